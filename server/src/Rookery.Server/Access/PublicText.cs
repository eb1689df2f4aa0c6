using System.Buffers;
using System.Text;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Access;

/// <summary>
/// Hides paths and members' names in the sentences that routes of the scope "open" send. Everyone may read why the node
/// does not serve; only callers with the scope "metrics" read where its files are and how other members are named
/// (docs/reference/access.md).
/// </summary>
internal sealed class PublicText(ServerContext context)
{
    private const string EndPunctuation = ".:?!";

    private static readonly SearchValues<char> PathEnds = SearchValues.Create(" \t\r\n\"'`,;()<>|");

    /// <summary>Returns a sentence as the caller may read it.</summary>
    public string? For(HttpContext http, string? sentence) => IsTrusted(http) ? sentence : ForEveryone(sentence);

    /// <summary>Whether the caller may read every sentence.</summary>
    public bool IsTrusted(HttpContext http) => context.Access.IsAllowed(http, RouteScope.Metrics);

    /// <summary>
    /// Returns a sentence as everyone may read it: the directories of data and journal are called DATA and JOURNAL,
    /// other paths are left out, and members are called by their letters.
    /// </summary>
    public string? ForEveryone(string? sentence)
    {
        if (sentence is null)
        {
            return null;
        }

        // The data directory first: a journal inside of it is then shown as DATA/….
        sentence = WithoutPaths(ReplaceDirectory(ReplaceDirectory(sentence, "data", "DATA"), "journal", "JOURNAL"));
        foreach (var member in context.Readiness.Node?.ReadStatistics()?.Consensus?.Members ?? [])
        {
            var (tag, name) = (member.Member.Tag, member.Member.Name);
            sentence = ReplaceName(ReplaceName(sentence, $"{name} ({tag})", tag), name, tag);
        }

        return sentence;
    }

    private string ReplaceDirectory(string sentence, string setting, string word) =>
        context
            .Options.Settings.FirstOrDefault(shown => string.Equals(shown.Name, setting, StringComparison.Ordinal))
            ?.Value
            is { Length: > 1 } directory
            ? sentence.Replace(directory, word, StringComparison.Ordinal)
            : sentence;

    private static string WithoutPaths(string sentence)
    {
        var shown = new StringBuilder(sentence.Length);
        for (int at = 0; at < sentence.Length; )
        {
            int end = at;
            if (sentence[at] == '/' && (at == 0 || !IsPartOfWord(sentence[at - 1])))
            {
                int length = sentence.AsSpan(at).IndexOfAny(PathEnds);
                end = length < 0 ? sentence.Length : at + length;
                while (end > at + 1 && EndPunctuation.Contains(sentence[end - 1], StringComparison.Ordinal))
                {
                    end--;
                }
            }

            if (end > at + 1)
            {
                shown.Append("(a path)");
                at = end;
            }
            else
            {
                shown.Append(sentence[at++]);
            }
        }

        return shown.ToString();

        // A slash after one of these characters belongs to a URL, a relative path, or words such as "and/or".
        static bool IsPartOfWord(char before) =>
            char.IsLetterOrDigit(before) || before is '/' or ':' or '.' or '-' or '_';
    }

    private static string ReplaceName(string sentence, string name, string tag)
    {
        if (name.Length == 0)
        {
            return sentence;
        }

        for (int at = 0; (at = sentence.IndexOf(name, at, StringComparison.Ordinal)) >= 0; )
        {
            int end = at + name.Length;
            bool isWhole =
                (at == 0 || !IsPartOfName(sentence[at - 1]))
                && (end == sentence.Length || !IsPartOfName(sentence[end]));
            string shown = isWhole ? $"member {tag}" : name;
            sentence = string.Concat(sentence.AsSpan(0, at), shown, sentence.AsSpan(end));
            at += shown.Length;
        }

        return sentence;

        static bool IsPartOfName(char character) => char.IsLetterOrDigit(character) || character is '-' or '_';
    }
}
