// Version of the library; CMake reads the numbers from here.
#ifndef CONVGRAD_VERSION_H_
#define CONVGRAD_VERSION_H_

#define CONVGRAD_VERSION_MAJOR 0
#define CONVGRAD_VERSION_MINOR 1
#define CONVGRAD_VERSION_PATCH 0
#define CONVGRAD_VERSION_STRING "0.1.0"

#endif  // CONVGRAD_VERSION_H_
