# 64-bit Arm Linux by Debian's cross compiler; programs run under QEMU's user-mode emulator.
# Packages: g++-aarch64-linux-gnu, qemu-user, googletest.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# The host's GoogleTest is of its own architecture; the package googletest has the sources.
set(CONVGRAD_GTEST_SOURCE /usr/src/googletest)
