using System.CommandLine;
using System.CommandLine.Completions;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Terminal;

namespace Rookery;

/// <summary>`rookery completion`: prints completion scripts for shells, generated from the commands.</summary>
internal static class CompletionCommand
{
    private static readonly string[] Shells = ["bash", "zsh", "fish"];

    public static Command Create()
    {
        var shell = new Argument<string>("SHELL") { Description = $"{string.Join(", ", Shells)}." };
        shell.CompletionSources.Add(Shells);
        var command = new Command(
            "completion",
            "Print a script by which a shell completes commands and options: source <(rookery completion bash)."
        )
        {
            shell,
        };
        command.SetAction(
            (parsed, _) =>
                Refusal.GuardAsync(() =>
                {
                    var nodes = Collect(CommandLine.CreateCommands([]), string.Empty).ToList();
                    Output.Lines(
                        parsed.GetValue(shell)! switch
                        {
                            "bash" => MakeBashScript(nodes),
                            "zsh" => MakeZshScript(nodes),
                            "fish" => MakeFishScript(nodes),
                            var other => throw new AdminException(
                                $"SHELL must be one of {string.Join(", ", Shells)}, not \"{other}\".",
                                ExitCode.Configuration
                            ),
                        }
                    );
                    return Task.FromResult(ExitCode.Success);
                })
        );
        return command;
    }

    private static IEnumerable<Node> Collect(Command command, string path)
    {
        (string Name, string Description)[] options =
        [
            .. command
                .Options.Where(static option => !option.Hidden)
                .Select(static option => (option.Name, option.Description ?? string.Empty))
                .Append(("--help", "Show help.")),
        ];
        Command[] inner = [.. command.Subcommands.Where(static sub => !sub.Hidden)];
        var values = command
            .Arguments.SelectMany(static argument => argument.CompletionSources)
            .SelectMany(static source => source(CompletionContext.Empty))
            .Select(static value => (value.Label, string.Empty));
        yield return new Node(
            path,
            [
                .. inner.SelectMany(static sub => NamesOf(sub).Select(name => (name, sub.Description ?? string.Empty))),
                .. values,
            ],
            [.. options.DistinctBy(static option => option.Name, StringComparer.Ordinal)]
        );
        foreach (var node in inner.SelectMany(sub => NamesOf(sub).SelectMany(name => Collect(sub, $"{path} {name}"))))
        {
            yield return node;
        }
    }

    private static IEnumerable<string> NamesOf(Command command) => [command.Name, .. command.Aliases];

    // The script follows the words while they name commands, and offers the subcommands and options of the last
    // command. If it has none, the script offers file names.
    private static IEnumerable<string> MakeBashScript(List<Node> nodes)
    {
        yield return "# bash completion of rookery: source <(rookery completion bash)";
        yield return "_rookery() {";
        yield return "  local current=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT}";
        yield return "  local path='' word at words=''";
        yield return "  local -a typed=()";
        // Bash splits words at colons and equals signs, as in http://pi:8080. The typed line shows where blanks are.
        yield return "  for ((at = 0; at <= COMP_CWORD; at++)); do";
        yield return "    word=${COMP_WORDS[at]}";
        yield return "    if ((at > 0)) && [[ $line == [![:space:]]* ]]; then typed[-1]+=$word; "
            + "else typed+=(\"$word\"); fi";
        yield return "    line=${line#\"${line%%[![:space:]]*}\"}";
        yield return "    line=${line#\"$word\"}";
        yield return "  done";
        yield return "  for word in \"${typed[@]:1:${#typed[@]}-2}\"; do";
        yield return "    case \"$path $word\" in";
        yield return $"      {PathsOf(nodes, " | ")}) path=\"$path $word\" ;;";
        yield return "    esac";
        yield return "  done";
        yield return "  case \"$path\" in";
        foreach (var node in nodes)
        {
            yield return $"    '{node.Path}') [[ $current == -* ]] && words='{JoinNames(node.Options)}' || "
                + $"words='{JoinNames(node.Commands)}' ;;";
        }

        yield return "  esac";
        yield return "  if [[ -n $words ]]; then";
        yield return "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")";
        yield return "    return";
        yield return "  fi";
        yield return "  local name beginning=${typed[-1]%\"$current\"}";
        yield return "  COMPREPLY=()";
        yield return "  while IFS= read -r name; do";
        yield return "    name=${name#\"$beginning\"}";
        // Bash inserts a name as it is. Another user may have chosen it, so it must not end the quotes.
        yield return "    case $current in";
        yield return "      \\'*) name=${name//\\'/\"'\\\\''\"} ;;";
        yield return "      \\\"*)";
        yield return "        [[ $name != *!* ]] || continue"; // bash expands it as history, also after a backslash
        foreach (char special in "\\\"$`")
        {
            yield return $"        name=${{name//\\{special}/\"\\\\\\{special}\"}}";
        }

        yield return "        ;;";
        yield return "      *) printf -v name %q \"$name\" ;;";
        yield return "    esac";
        yield return "    COMPREPLY+=(\"$name\")";
        yield return $"  done < <(\"${{typed[0]}}\" {NodeCompletion.CommandName} \"${{typed[@]:1}}\" 2>/dev/null)";
        yield return "}";
        yield return "complete -o bashdefault -o default -F _rookery rookery";
    }

    private static IEnumerable<string> MakeZshScript(List<Node> nodes)
    {
        yield return "#compdef rookery";
        yield return "# zsh completion of rookery: rookery completion zsh >\"${fpath[1]}/_rookery\"";
        yield return "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }";
        yield return "_rookery() {";
        yield return "  local place='' word";
        yield return "  local -a offered";
        yield return "  for word in \"${words[@]:1:$((CURRENT - 2))}\"; do";
        yield return "    case \"$place $word\" in";
        yield return $"      {PathsOf(nodes, " | ")}) place=\"$place $word\" ;;";
        yield return "    esac";
        yield return "  done";
        yield return "  case \"$place\" in";
        foreach (var node in nodes)
        {
            yield return $"    '{node.Path}') if [[ $PREFIX == -* ]]; then offered=({Describe(node.Options)}); else "
                + $"offered=({Describe(node.Commands)}); fi ;;";
        }

        yield return "  esac";
        yield return "  if (( ${#offered} )); then";
        yield return "    _describe rookery offered";
        yield return "    return";
        yield return "  fi";
        yield return "  local -a names";
        yield return "  names=(\"${(@f)$(\"${(Q)words[1]}\" "
            + $"{NodeCompletion.CommandName} \"${{(@Q)words[2,CURRENT-1]}}\" \"${{(Q)PREFIX}}\" 2>/dev/null)}}\")";
        yield return "  if [[ -n $names[1] ]]; then compadd -a names; else _files; fi";
        yield return "}";
        yield return "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _rookery \"$@\"; "
            + "else compdef _rookery rookery; fi";
    }

    private static IEnumerable<string> MakeFishScript(List<Node> nodes)
    {
        yield return "# fish completion of rookery: rookery completion fish >~/.config/fish/completions/rookery.fish";
        yield return "function __rookery_at";
        yield return "  set -l place ''";
        yield return "  for word in (commandline -opc)[2..-1]";
        yield return "    switch \"$place $word\"";
        yield return $"      case {PathsOf(nodes, " ")}";
        yield return "        set place \"$place $word\"";
        yield return "    end";
        yield return "  end";
        yield return "  test \"$place\" = \"$argv[1]\"";
        yield return "end";
        yield return "function __rookery_find_names";
        yield return "  set -l words (commandline -opc)";
        yield return "  set -l typed (commandline -ct | string trim --left --chars \"\\\"'\")";
        yield return "  set -g __rookery_names "
            + $"($words[1] {NodeCompletion.CommandName} $words[2..-1] \"$typed\" 2>/dev/null)";
        yield return "  test (count $__rookery_names) -gt 0";
        yield return "end";
        yield return "complete -c rookery -n __rookery_find_names -f -a '$__rookery_names'";
        foreach (var node in nodes)
        {
            foreach (var (name, description) in node.Commands)
            {
                yield return $"complete -c rookery -n \"__rookery_at '{node.Path}'\" -f -a {name} -d "
                    + $"{QuoteForFish(Shorten(description))}";
            }

            foreach (var (name, description) in node.Options)
            {
                string option = name.StartsWith("--", StringComparison.Ordinal) ? $"-l {name[2..]}" : $"-s {name[1..]}";
                yield return $"complete -c rookery -n \"__rookery_at '{node.Path}'\" {option} -d "
                    + $"{QuoteForFish(Shorten(description))}";
            }
        }
    }

    private static string PathsOf(IEnumerable<Node> nodes, string separator) =>
        string.Join(
            separator,
            nodes.Where(static node => node.Path.Length > 0).Select(static node => $"'{node.Path}'")
        );

    private static string JoinNames(IEnumerable<(string Name, string Description)> words) =>
        string.Join(' ', words.Select(static word => word.Name));

    private static string Describe(IEnumerable<(string Name, string Description)> words) =>
        string.Join(
            ' ',
            words.Select(static word =>
                QuoteForZsh($"{word.Name}:{Shorten(word.Description).Replace(":", "\\:", StringComparison.Ordinal)}")
            )
        );

    /// <summary>Returns the first sentence of a description, without its default.</summary>
    private static string Shorten(string description)
    {
        int end = description.IndexOfAny(['.', '[', ';', '\n']);
        return end < 0 ? description : description[..end].TrimEnd();
    }

    private static string QuoteForZsh(string text) => $"'{text.Replace("'", "'\\''", StringComparison.Ordinal)}'";

    private static string QuoteForFish(string text) =>
        $"'{text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal)}'";

    /// <summary>A command. <c>Path</c> contains the words that lead to it, each after a space.</summary>
    private sealed record Node(
        string Path,
        IReadOnlyList<(string Name, string Description)> Commands,
        IReadOnlyList<(string Name, string Description)> Options
    );
}
