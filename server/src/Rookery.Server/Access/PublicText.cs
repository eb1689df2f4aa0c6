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

    private string ReplaceDirectory(string sentence, string setting, string word)
    {
        string? value = context
            .Options.Settings.FirstOrDefault(shown => string.Equals(shown.Name, setting, StringComparison.Ordinal))
            ?.Value;
        return value?.TrimEnd('/') is { Length: > 1 } directory
            ? ReplaceWhole(sentence, directory, word, IsWholePath)
            : sentence;

        static bool IsWholePath(string sentence, int at, int end)
        {
            // /data is neither a part of /databases nor of /old/data.
            var after = sentence.AsSpan(end);
            bool isBegun =
                at > 0 && (char.IsLetterOrDigit(sentence[at - 1]) || sentence[at - 1] is '/' or '.' or '-' or '_');
            bool isEnded =
                after.IsEmpty
                || after[0] == '/'
                || PathEnds.Contains(after[0])
                || (
                    EndPunctuation.Contains(after[0], StringComparison.Ordinal)
                    && (after.Length == 1 || PathEnds.Contains(after[1]))
                );
            return !isBegun && isEnded;
        }
    }

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
        return name.Length == 0 ? sentence : ReplaceWhole(sentence, name, $"member {tag}", IsWholeName);

        static bool IsWholeName(string sentence, int at, int end) =>
            (at == 0 || !IsPartOfName(sentence[at - 1])) && (end == sentence.Length || !IsPartOfName(sentence[end]));

        static bool IsPartOfName(char character) => char.IsLetterOrDigit(character) || character is '-' or '_';
    }

    /// <summary>Replaces a text where it is not a part of a longer one.</summary>
    /// <param name="sentence">The sentence.</param>
    /// <param name="text">The text; not empty.</param>
    /// <param name="shown">What to show instead.</param>
    /// <param name="isWhole">Whether the part of the sentence from one position to before another is not part of a
    /// longer name or path.</param>
    private static string ReplaceWhole(string sentence, string text, string shown, Func<string, int, int, bool> isWhole)
    {
        for (int at = 0; (at = sentence.IndexOf(text, at, StringComparison.Ordinal)) >= 0; )
        {
            int end = at + text.Length;
            string replacement = isWhole(sentence, at, end) ? shown : text;
            sentence = string.Concat(sentence.AsSpan(0, at), replacement, sentence.AsSpan(end));
            at += replacement.Length;
        }

        return sentence;
    }
}
