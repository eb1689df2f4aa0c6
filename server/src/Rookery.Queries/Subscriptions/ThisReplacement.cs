using System.Text;

namespace Rookery.Queries.Subscriptions;

/// <summary>Replaces the keyword <c>this</c> in a script by a name of the same length.</summary>
internal static class ThisReplacement
{
    /// <summary>The name.</summary>
    public const string Name = "_th_";

    private const string Keyword = "this";

    /// <summary>Returns the script with the name. Texts in quotes and comments keep the word.</summary>
    public static string In(string script)
    {
        var result = new StringBuilder(script);
        for (int at = 0; at < script.Length; )
        {
            int end = EndOfText(script, at);
            if (end > at)
            {
                at = end;
                continue;
            }

            if (!IsOfName(script[at]))
            {
                at++;
                continue;
            }

            int start = at;
            while (at < script.Length && IsOfName(script[at]))
            {
                at++;
            }

            bool isMember = start > 0 && script[start - 1] == '.';
            if (!isMember && script.AsSpan(start, at - start).SequenceEqual(Keyword))
            {
                result.Remove(start, Keyword.Length).Insert(start, Name);
            }
        }

        return result.ToString();
    }

    /// <summary>Returns the end of a quoted text or comment that begins here; the position if none does.</summary>
    private static int EndOfText(string script, int at)
    {
        if (script[at] is '\'' or '"' or '`')
        {
            int end = at + 1;
            while (end < script.Length && script[end] != script[at])
            {
                end += script[end] == '\\' ? 2 : 1;
            }

            return Math.Min(end + 1, script.Length);
        }

        string? closing =
            script.AsSpan(at).StartsWith("//") ? "\n"
            : script.AsSpan(at).StartsWith("/*") ? "*/"
            : null;
        if (closing is null)
        {
            return at;
        }

        int found = script.IndexOf(closing, at + 2, StringComparison.Ordinal);
        return found < 0 ? script.Length : found + closing.Length;
    }

    private static bool IsOfName(char c) => char.IsLetterOrDigit(c) || c is '_' or '$';
}
