"""Commands that the tests of libraries run, with what went wrong."""
import os
import subprocess


class Commands:
    """Runs commands in a folder, with the strew of a build tree, and counts what is not as it should be."""

    def __init__(self, build, folder):
        self.build, self.folder, self.failures = build, folder, 0
        self.strew = build / "bin/strew"

    def that(self, good, what):
        if not good:
            self.failures += 1
            print("FAILED:", what)

    def run(self, *command, expected=0, **environment):
        words = " ".join(map(str, command))
        try:
            done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, **environment))
        except OSError as error:
            done = subprocess.CompletedProcess(command, -1, "", str(error))
        self.that(done.returncode == expected, f"{words} ended with {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}")
        return done
