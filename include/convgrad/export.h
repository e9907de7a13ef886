// CONVGRAD_API marks the public symbols; everything else stays hidden in the shared library.
#ifndef CONVGRAD_EXPORT_H_
#define CONVGRAD_EXPORT_H_

#if defined(_WIN32)
#define CONVGRAD_API
#elif defined(__cplusplus)
#define CONVGRAD_API [[gnu::visibility("default")]]
#else
#define CONVGRAD_API __attribute__((visibility("default")))
#endif

#endif  // CONVGRAD_EXPORT_H_
