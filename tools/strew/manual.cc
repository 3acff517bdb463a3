// See manual.h.
#include "tools/strew/manual.h"

#include <sstream>

#include "strew/version.h"

namespace strew::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

/// Text for roff: backslashes and the characters that begin a request are escaped, and a line break in the text stays one.
std::string roff(const std::string& text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (begins_line && c == ' ') continue;
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += "\n.br\n";
    else
      out += c;
    begins_line = c == '\n';
  }
  return out;
}

std::string roff_option(const ManualOption& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!option.value.empty()) head += (head.empty() ? "\\fI" : " \\fI") + roff(option.value) + "\\fR";
  return ".TP\n" + head + "\n" + roff(option.text) + "\n";
}

/// Text in a zsh specification, within single quotes.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const ManualOption& option) {
  if (option.value.empty()) return "";
  return ":" + zsh_text(option.value) + ":" + (option.choices.empty() ? "_files" : "(" + joined(option.choices, " ") + ")");
}

}  // namespace

std::string manual_page(const std::vector<ManualCommand>& commands, const std::string& about, const std::string& variables) {
  std::ostringstream out;
  out << ".TH STREW 1 \"\" \"strew " << STREW_VERSION_MAJOR << '.' << STREW_VERSION_MINOR << '.' << STREW_VERSION_PATCH
      << "\" \"User Commands\"\n.SH NAME\nstrew \\- " << roff(about.substr(about.find(": ") + 2)) << "\n.SH SYNOPSIS\n";
  for (const ManualCommand& command : commands) {
    out << ".B strew " << command.name << "\n[\\fIOPTION\\fR]...";
    for (const ManualOption& option : command.options)
      if (option.names.empty()) out << " \\fI" << option.value << "\\fR";
    out << "\n.br\n";
  }
  out << ".SH COMMANDS\n";
  for (const ManualCommand& command : commands) {
    out << ".SS strew " << command.name << "\n" << roff(command.text) << "\n";
    for (const ManualOption& option : command.options) out << roff_option(option);
    if (!command.example.empty()) out << ".PP\n" << roff(command.example) << "\n";
  }
  out << ".SH ENVIRONMENT\n" << roff(variables) << "\n";
  out << ".SH EXIT STATUS\n0: done. 1: the input, or what was asked of it, is wrong or unsupported; standard error has one line "
         "that says why. 2: "
         "the command line is wrong. 3: a bug in strew.\n";
  return out.str();
}

std::string bash_completion(const std::vector<ManualCommand>& commands) {
  std::ostringstream out;
  std::vector<std::string> names;
  for (const ManualCommand& command : commands) names.push_back(command.name);
  out << "# Completion of strew for bash, made by `strew completion bash`.\n_strew() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '"
      << joined(names, " ") << " --help --version' -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const ManualCommand& command : commands) {
    std::vector<std::string> all, arguments;
    out << "    " << command.name << ")\n      case $before in\n";
    for (const ManualOption& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (option.names.empty()) arguments.insert(arguments.end(), option.choices.begin(), option.choices.end());
      if (!option.names.empty() && !option.choices.empty())
        out << "        " << joined(option.names, "|") << ") COMPREPLY=($(compgen -W '" << joined(option.choices, " ")
            << "' -- \"$word\")); return ;;\n";
    }
    out << "      esac\n      options='" << joined(all, " ") << (arguments.empty() ? "" : " ") << joined(arguments, " ")
        << "' ;;\n";
  }
  out << "  esac\n  case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$(printf '%s\\n' $options | grep -v '^-')\" -- \"$word\") $(compgen -f -- \"$word\")) "
         ";;\n"
         "  esac\n}\ncomplete -o filenames -F _strew strew\n";
  return out.str();
}

std::string zsh_completion(const std::vector<ManualCommand>& commands) {
  std::ostringstream out;
  out << "#compdef strew\n# Completion of strew for zsh, made by `strew completion zsh`.\n_strew() {\n  local -a commands\n  "
         "commands=(\n";
  for (const ManualCommand& command : commands) out << "    '" << command.name << ":" << zsh_text(command.text) << "'\n";
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  local name=$words[2]\n  shift "
         "words\n"
         "  (( CURRENT-- ))\n  case $name in\n";
  for (const ManualCommand& command : commands) {
    out << "    " << command.name << ")\n      _arguments";
    for (const ManualOption& option : command.options) {
      if (option.names.empty()) out << " \\\n        '*" << zsh_value(option) << "'";
      for (const std::string& name : option.names)
        out << " \\\n        '" << name << "[" << zsh_text(option.text) << "]" << zsh_value(option) << "'";
    }
    out << " ;;\n";
  }
  out << "  esac\n}\n_strew \"$@\"\n";
  return out.str();
}

}  // namespace strew::cli
