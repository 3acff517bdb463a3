// Opener: strew_loader LIBSTREW CLIENT FOLDER opens LIBSTREW by that path, as it is written, then CLIENT, changes to FOLDER and only then
// asks the client for a kernel: everything libstrew opens by itself is opened after the chdir(). Exit: 0 a kernel, 1 none, 2 no library.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void* client = nullptr;
  for (int i = 1; i < 3; ++i) {
    client = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (!client) {
      std::puts(dlerror());
      return 2;
    }
  }
  const auto ask = reinterpret_cast<int (*)()>(dlsym(client, "strew_loader_client"));
  if (!ask || chdir(argv[3]) != 0) return 2;
  return ask();
}
