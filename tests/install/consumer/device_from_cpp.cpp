// The device library from C++: its header compiles, its names are found.
#include <cstdio>
#include <strobe/device.h>

int main() {
    sb_mesh *mesh = nullptr;
    sb_error error;
    if (sb_mesh_open("toaster", &mesh, &error) != SB_OK)
        std::puts(error.message);
    sb_mesh_close(mesh);
}
