# A toolchain file for AArch64 with Debian's cross compiler (packages g++-aarch64-linux-gnu and qemu-user):
#   cmake -B build-aarch64 --toolchain cmake/aarch64-linux-gnu.cmake -DSTREW_RUNTIME_ONLY=ON
# Programs are run by QEMU; its default CPU has all features that it knows.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
