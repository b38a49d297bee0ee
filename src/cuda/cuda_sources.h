/* Headers for kernels that the library carries, so that NVRTC finds them anywhere. */
#ifndef SB_CUDA_CUDA_SOURCES_H
#define SB_CUDA_CUDA_SOURCES_H

#include <stddef.h>

typedef struct cuda_source_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} cuda_source_file;

extern const cuda_source_file cuda_source_files[];
extern const size_t cuda_source_file_count;

#endif
