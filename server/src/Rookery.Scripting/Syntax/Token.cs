namespace Rookery.Scripting.Syntax;

/// <summary>The kind of a token.</summary>
internal enum TokenKind
{
    /// <summary>The end of the text.</summary>
    End,

    /// <summary>An identifier or keyword.</summary>
    Name,

    /// <summary>A number.</summary>
    Number,

    /// <summary>A text, with escapes resolved.</summary>
    Text,

    /// <summary>A template literal: the source between its back quotes.</summary>
    Template,

    /// <summary>A regular expression, with its slashes and flags.</summary>
    Pattern,

    /// <summary>An operator or bracket.</summary>
    Punctuator,
}

/// <summary>A token of a script.</summary>
/// <param name="Kind">The kind of the token.</param>
/// <param name="Text">The name, the punctuator, the text, or the digits of a number.</param>
/// <param name="Number">The value of a number. For texts, see <see cref="Lexer"/>.</param>
/// <param name="Position">The offset in the text, in characters.</param>
/// <param name="IsAfterNewLine">Whether a line end precedes the token.</param>
internal readonly record struct Token(TokenKind Kind, string Text, double Number, int Position, bool IsAfterNewLine)
{
    /// <summary>Returns whether this is a given punctuator.</summary>
    public bool Is(string punctuator) =>
        Kind == TokenKind.Punctuator && string.Equals(Text, punctuator, StringComparison.Ordinal);

    /// <summary>Returns whether this is a given word.</summary>
    public bool IsWord(string word) => Kind == TokenKind.Name && string.Equals(Text, word, StringComparison.Ordinal);

    /// <summary>The token in quotes, for error messages.</summary>
    public string Quoted => Kind == TokenKind.End ? "the end" : $"'{Text}'";
}
