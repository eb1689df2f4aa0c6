using System.CommandLine;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Data;

/// <summary>
/// Completes the values of arguments and options with names of the node that the command line selects. Scripts of
/// `rookery completion` use it by the hidden command <see cref="CommandName"/>.
/// </summary>
internal static class NodeCompletion
{
    /// <summary>The hidden command, which is followed by the words of a command line; the last is the one to
    /// complete.</summary>
    public const string CommandName = "__complete";

    // A user waits for the answer after each tab.
    private static readonly TimeSpan Limit = TimeSpan.FromMilliseconds(100);
    private static readonly ConditionalWeakTable<Symbol, Source> Sources = [];

    /// <summary>Reads names that begin with the typed text; it may return others, too.</summary>
    public delegate Task<IReadOnlyList<string>> ReadNames(NodeNames names, ParseResult parsed, string typed);

    /// <summary>Completes an argument or option with names of the node.</summary>
    public static T Offering<T>(this T symbol, NodeAddress address, ReadNames read)
        where T : Symbol
    {
        Sources.Add(symbol, new Source(address, read));
        return symbol;
    }

    /// <summary>Prints the names that complete the last word, each on a line; nothing if the node is away.</summary>
    public static async Task<int> PrintAsync(string[] words)
    {
        Console.SetError(TextWriter.Null);
        using var limit = new CancellationTokenSource(Limit, TimeProvider.System);
        try
        {
            // A name that a terminal cannot show unchanged cannot be typed either.
            var names = (await FindAsync(words, limit.Token)).Where(static name =>
                string.Equals(VisibleText.OfLine(name), name, StringComparison.Ordinal)
            );
            Output.Lines(names);
        }
        catch (Exception silent)
            when (silent
                    is AdminException
                        or OperationCanceledException
                        or IOException
                        or HttpRequestException
                        or UnauthorizedAccessException
                        or JsonException
                        or KeyNotFoundException
                        or InvalidOperationException
            )
        {
            // A message would stand in the command line that the user types.
        }

        return ExitCode.Success;
    }

    private static async Task<IEnumerable<string>> FindAsync(string[] words, CancellationToken cancellation)
    {
        // Bash passes a word with the quote that the user typed.
        string typed = words.LastOrDefault(string.Empty).TrimStart('"', '\'');
        string[] before = [.. words.SkipLast(1)];
        var parsed = CommandLine.CreateCommands(before).Parse(before);
        if (
            SymbolAfter(parsed, before.LastOrDefault(string.Empty)) is not { } symbol
            || !Sources.TryGetValue(symbol, out var source)
        )
        {
            return [];
        }

        var node = await NodeChoice.FirstThatAnswersAsync(source.Address.ConnectAll(parsed)).WaitAsync(cancellation);
        using var client = new NodeClient(node);
        var names = await source.Read(new NodeNames(client, cancellation), parsed, typed).WaitAsync(cancellation);
        return names.Where(name => name.StartsWith(typed, StringComparison.Ordinal));
    }

    /// <summary>Returns the option or argument whose value follows the parsed words; null if none does.</summary>
    private static Symbol? SymbolAfter(ParseResult parsed, string lastWord)
    {
        var command = parsed.CommandResult.Command;
        var option = command.Options.FirstOrDefault(option =>
            string.Equals(option.Name, lastWord, StringComparison.Ordinal)
        );
        return option is { Arity.MinimumNumberOfValues: > 0 }
            ? option
            : command.Arguments.FirstOrDefault(argument =>
                (parsed.GetResult(argument)?.Tokens.Count ?? 0) < argument.Arity.MaximumNumberOfValues
            );
    }

    private sealed record Source(NodeAddress Address, ReadNames Read);
}
