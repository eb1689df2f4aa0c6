using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds the members of rows that a reduce can read, in the text of the reduce.</summary>
internal static class ReadMembers
{
    /// <summary>
    /// Returns all names in the text that follow a dot or are quoted: a reduce can read no other members. Returns null
    /// if the text reads members by computed names, or all members.
    /// </summary>
    /// <param name="reduce">The text of the reduce.</param>
    /// <param name="isCSharp">Whether the text is C# rather than JavaScript.</param>
    public static IReadOnlySet<string>? Of(string reduce, bool isCSharp)
    {
        var names = new HashSet<string>(StringComparer.Ordinal);
        return TryAdd(reduce, isCSharp, names) ? names : null;
    }

    private static bool TryAdd(string text, bool isCSharp, HashSet<string> names)
    {
        var tokens = new Lexer(text, isCSharp).ReadAll(offset: 0);
        for (int index = 0; index < tokens.Count; index++)
        {
            var token = tokens[index];
            if (token.Is("...") || (token.Is("[") && !HasFixedName(tokens[index + 1])))
            {
                return false;
            }

            bool isInterpolated = token.Kind == TokenKind.Text && index > 0 && tokens[index - 1].IsWord("$");
            if (
                (token.Kind == TokenKind.Template || isInterpolated)
                && token.Text.Contains('{', StringComparison.Ordinal)
            )
            {
                // The names in the values of a template are not tokens of this text, so they are not found.
                return false;
            }

            if (token.Kind == TokenKind.Text || (token.Kind == TokenKind.Name && IsMember(tokens, index)))
            {
                names.Add(token.Text);
            }
        }

        return true;
    }

    private static bool HasFixedName(Token index) => index.Kind is TokenKind.Number or TokenKind.Text || index.Is("]");

    private static bool IsMember(List<Token> tokens, int index)
    {
        int before = index > 1 && tokens[index - 1].Is("@") ? index - 2 : index - 1;
        return before >= 0 && (tokens[before].Is(".") || tokens[before].Is("?."));
    }
}
