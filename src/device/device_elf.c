#include "device/device_elf.h"

#include <elf.h>
#include <string.h>

#define MACHINE_RISCV 243
/* More than any kernel has; a file that says more is broken. */
#define SEGMENT_MAX 64

static bool is_inside(sb_slice file, uint64_t offset, uint64_t size) {
    return offset <= file.size && size <= file.size - offset;
}

static sb_slice cut(sb_slice file, uint64_t offset, uint64_t size) {
    return (sb_slice){file.data + offset, (size_t)size};
}

static sb_status read_header(sb_slice file, Elf32_Ehdr *header, sb_error *error) {
    if (file.size < sizeof *header)
        SB_FAIL(error, SB_ERR_FORMAT, "not an ELF file: %zu bytes are less than a header",
                file.size);
    memcpy(header, file.data, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        SB_FAIL(error, SB_ERR_FORMAT, "not an ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != MACHINE_RISCV || header->e_type != ET_EXEC)
        SB_FAIL(error, SB_ERR_FORMAT, "not an executable for 32-bit RISC-V");
    if (header->e_phnum == 0 || header->e_phnum > SEGMENT_MAX ||
        header->e_phentsize != sizeof(Elf32_Phdr) ||
        !is_inside(file, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf32_Phdr)))
        SB_FAIL(error, SB_ERR_FORMAT, "its program headers do not lie in the file");
    return SB_OK;
}

static sb_status read_segments(sb_slice file, const Elf32_Ehdr *header, device_elf *elf,
                               sb_error *error) {
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        Elf32_Phdr segment;
        memcpy(&segment, file.data + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_LOAD)
            continue;
        if (!is_inside(file, segment.p_offset, segment.p_filesz))
            SB_FAIL(error, SB_ERR_FORMAT, "segment %u does not lie in the file", i);
        *(device_segment *)sb_vector_push(&elf->segments) =
            (device_segment){.address = segment.p_paddr,
                             .bytes = cut(file, segment.p_offset, segment.p_filesz),
                             .memory_size = segment.p_memsz,
                             .virtual_address = segment.p_vaddr};
    }
    if (elf->segments.count == 0)
        SB_FAIL(error, SB_ERR_EMPTY, "there is nothing in it to load");
    return SB_OK;
}

static bool has_sections(sb_slice file, const Elf32_Ehdr *header) {
    const uint64_t size = (uint64_t)header->e_shnum * sizeof(Elf32_Shdr);
    return header->e_shentsize == sizeof(Elf32_Shdr) && is_inside(file, header->e_shoff, size);
}

static Elf32_Shdr section_at(sb_slice file, const Elf32_Ehdr *header, uint32_t index) {
    Elf32_Shdr section;
    memcpy(&section, file.data + header->e_shoff + index * sizeof section, sizeof section);
    return section;
}

/* The content of the section of this name; empty if there is none. */
static sb_slice find_section(sb_slice file, const Elf32_Ehdr *header, const char *name) {
    const sb_slice none = {"", 0};
    if (!has_sections(file, header) || header->e_shstrndx >= header->e_shnum)
        return none;
    const Elf32_Shdr names = section_at(file, header, header->e_shstrndx);
    if (!is_inside(file, names.sh_offset, names.sh_size))
        return none;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        const Elf32_Shdr section = section_at(file, header, i);
        sb_slice rest = sb_slice_after(cut(file, names.sh_offset, names.sh_size), section.sh_name);
        if (section.sh_type == SHT_PROGBITS && sb_slice_is(sb_slice_cut(rest, '\0', &rest), name) &&
            is_inside(file, section.sh_offset, section.sh_size))
            return cut(file, section.sh_offset, section.sh_size);
    }
    return none;
}

/* A file without symbols, or with ones that make no sense, is run all the same. */
static void read_symbols(sb_slice file, const Elf32_Ehdr *header, device_elf *elf) {
    if (!has_sections(file, header))
        return;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        const Elf32_Shdr section = section_at(file, header, i);
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum)
            continue;
        const Elf32_Shdr names = section_at(file, header, section.sh_link);
        if (!is_inside(file, section.sh_offset, section.sh_size) ||
            !is_inside(file, names.sh_offset, names.sh_size))
            continue;
        elf->symbols =
            cut(file, section.sh_offset, section.sh_size / sizeof(Elf32_Sym) * sizeof(Elf32_Sym));
        elf->names = cut(file, names.sh_offset, names.sh_size);
        return;
    }
}

sb_status device_elf_parse(sb_slice file, device_elf *elf, sb_error *error) {
    Elf32_Ehdr header = {0};
    *elf = (device_elf){.segments = sb_vector_of(sizeof(device_segment))};
    SB_TRY(read_header(file, &header, error));
    elf->entry = header.e_entry;
    const sb_status status = read_segments(file, &header, elf, error);
    if (status != SB_OK) {
        device_elf_free(elf);
        return status;
    }
    read_symbols(file, &header, elf);
    elf->zones = find_section(file, &header, ".debug_strobe_zones");
    elf->places = find_section(file, &header, ".strobe_places");
    return SB_OK;
}

void device_elf_free(device_elf *elf) {
    sb_vector_free(&elf->segments);
    *elf = (device_elf){0};
}

static size_t symbol_count(const device_elf *elf) {
    return elf->symbols.size / sizeof(Elf32_Sym);
}

static Elf32_Sym symbol_at(const device_elf *elf, size_t index) {
    Elf32_Sym symbol;
    memcpy(&symbol, elf->symbols.data + index * sizeof symbol, sizeof symbol);
    return symbol;
}

/* Up to its NUL, or to the end of the table where there is none. */
static sb_slice name_of(const device_elf *elf, const Elf32_Sym *symbol) {
    const sb_slice rest = sb_slice_after(elf->names, symbol->st_name);
    sb_slice after;
    return sb_slice_cut(rest, '\0', &after);
}

bool device_elf_find(const device_elf *elf, const char *name, uint32_t *value) {
    for (size_t i = 0; i < symbol_count(elf); i++) {
        const Elf32_Sym symbol = symbol_at(elf, i);
        if (sb_slice_is(name_of(elf, &symbol), name)) {
            *value = symbol.st_value;
            return true;
        }
    }
    return false;
}

sb_slice device_elf_function_at(const device_elf *elf, uint32_t address, uint32_t *offset) {
    for (size_t i = 0; i < symbol_count(elf); i++) {
        const Elf32_Sym symbol = symbol_at(elf, i);
        if (ELF32_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value &&
            address - symbol.st_value < symbol.st_size) {
            *offset = address - symbol.st_value;
            return name_of(elf, &symbol);
        }
    }
    *offset = 0;
    return (sb_slice){"", 0};
}
