/*
 * A reader that asks for nothing: greets the program at a port of this machine, reads to the end
 * and prints how many bytes came behind the welcome. For bench/client.py: it takes as little of the
 * machine as a reader can.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/wire.h"

static int connect_to(uint16_t port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int tries = 0; tries < 1000; tries++) {
        const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0)
            return descriptor;
        close(descriptor);
        usleep(5000);
    }
    return -1;
}

int main(int argc, char **argv) {
    enum { BUFFER_SIZE = 1 << 20 };
    if (argc != 3) {
        fprintf(stderr, "usage: client_reader PORT PROTOCOL\n");
        return 2;
    }
    const int descriptor = connect_to((uint16_t)strtoul(argv[1], NULL, 10));
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    sb_wire_hello_encode((uint32_t)strtoul(argv[2], NULL, 10), hello);
    static char buffer[BUFFER_SIZE];
    if (descriptor < 0 || write(descriptor, hello, sizeof hello) != (ssize_t)sizeof hello) {
        fprintf(stderr, "client_reader: no program at port %s\n", argv[1]);
        return 1;
    }
    unsigned long long bytes = 0;
    ssize_t part = 0;
    while ((part = read(descriptor, buffer, BUFFER_SIZE)) > 0)
        bytes += (unsigned long long)part;
    const sb_wire_protocol *protocol = sb_wire_protocol_any((uint32_t)strtoul(argv[2], NULL, 10));
    const unsigned long long head = protocol == NULL ? 0 : 1 + sb_wire_welcome_size(protocol);
    printf("bytes %llu\n", bytes > head ? bytes - head : 0);
    return 0;
}
