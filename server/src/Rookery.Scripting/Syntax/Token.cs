namespace Rookery.Scripting.Syntax;

/// <summary>What a token is.</summary>
internal enum TokenKind
{
    /// <summary>The text ends here.</summary>
    End,

    /// <summary>An identifier or a word of the language.</summary>
    Name,

    /// <summary>A number.</summary>
    Number,

    /// <summary>A text, escapes resolved.</summary>
    Text,

    /// <summary>A template literal, as written between its back quotes.</summary>
    Template,

    /// <summary>Operators and brackets.</summary>
    Mark,
}

/// <summary>A token of a script.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">The name, the mark, or the text.</param>
/// <param name="Number">The number.</param>
/// <param name="Position">Characters of the text before it.</param>
/// <param name="IsAfterNewLine">Whether a line ended before it.</param>
internal readonly record struct Token(TokenKind Kind, string Text, double Number, int Position, bool IsAfterNewLine)
{
    /// <summary>Whether it is this mark.</summary>
    public bool Is(string mark) => Kind == TokenKind.Mark && string.Equals(Text, mark, StringComparison.Ordinal);

    /// <summary>Whether it is this word.</summary>
    public bool IsWord(string word) => Kind == TokenKind.Name && string.Equals(Text, word, StringComparison.Ordinal);

    /// <summary>As an error quotes it.</summary>
    public string Quoted => Kind == TokenKind.End ? "the end" : $"'{Text}'";
}
