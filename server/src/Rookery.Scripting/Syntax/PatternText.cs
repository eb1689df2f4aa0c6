namespace Rookery.Scripting.Syntax;

/// <summary>Finds regular expressions in scripts, whose slashes could also divide.</summary>
internal static class PatternText
{
    // Characters after which an operand must follow.
    private const string BeforeOperand = "(,=:[!&|?{};+-*%<>~^";

    /// <summary>Returns whether an operand must follow tokens, so that a slash begins a regular expression.</summary>
    public static bool MayFollow(List<Token> tokens)
    {
        if (tokens.Count == 0)
        {
            return true;
        }

        var last = tokens[^1];
        bool isMember = tokens.Count > 1 && (tokens[^2].Is(".") || tokens[^2].Is("?."));
        return last.Kind switch
        {
            TokenKind.Punctuator => last.Text is not (")" or "]" or "++" or "--"),
            TokenKind.Name => !isMember && IsWordBeforeOperand(last.Text),
            _ => false,
        };
    }

    /// <summary>Returns whether an operand must follow a word that is not the name of a member.</summary>
    public static bool IsWordBeforeOperand(ReadOnlySpan<char> word) =>
        word
            is "return"
                or "typeof"
                or "case"
                or "in"
                or "of"
                or "delete"
                or "void"
                or "throw"
                or "new"
                or "else"
                or "do";

    /// <summary>Returns whether an operand must follow a character of an operator or a bracket.</summary>
    public static bool IsBeforeOperand(char character) => BeforeOperand.Contains(character, StringComparison.Ordinal);

    /// <summary>
    /// Returns whether a slash in the value of a template begins a regular expression: it is no comment, and an operand
    /// must follow what is before it.
    /// </summary>
    /// <param name="text">The text.</param>
    /// <param name="from">The offset of the value.</param>
    /// <param name="slash">The offset of the slash.</param>
    public static bool BeginsAt(string text, int from, int slash)
    {
        if (slash + 1 < text.Length && text[slash + 1] is '/' or '*')
        {
            return false;
        }

        int before = slash - 1;
        while (before >= from && text[before] is ' ' or '\t' or '\r' or '\n')
        {
            before--;
        }

        return before < from || IsBeforeOperand(text[before]);
    }

    /// <summary>
    /// Returns the offset of the slash that ends a regular expression; -1 if it does not end on its line.
    /// </summary>
    public static int FindEnd(string text, int slash)
    {
        bool isClass = false;
        for (int at = slash + 1; at < text.Length && text[at] is not ('\n' or '\r' or '\u2028' or '\u2029'); at++)
        {
            if (text[at] == '/' && !isClass)
            {
                return at;
            }

            isClass = text[at] == '[' || (isClass && text[at] != ']');
            at += text[at] == '\\' ? 1 : 0;
        }

        return -1;
    }
}
