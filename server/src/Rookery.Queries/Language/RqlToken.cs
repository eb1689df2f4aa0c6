namespace Rookery.Queries.Language;

/// <summary>Kinds of tokens of a query.</summary>
internal enum RqlTokenKind
{
    /// <summary>The end of the text.</summary>
    End,

    /// <summary>A name or keyword: letters, digits, <c>_ @ -</c>.</summary>
    Word,

    /// <summary>A text in single or double quotes, with escapes resolved.</summary>
    Text,

    /// <summary>A parameter: <c>$name</c>.</summary>
    Parameter,

    /// <summary>A number, in JSON form.</summary>
    Number,

    /// <summary>One or two characters of punctuation or an operator.</summary>
    Symbol,
}

/// <summary>A token of a query.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Text">The text, without quotes or dollar sign.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
internal readonly record struct RqlToken(RqlTokenKind Kind, string Text, int Position)
{
    /// <summary>Returns whether the token is this keyword, compared without case.</summary>
    public bool IsKeyword(string keyword) =>
        Kind == RqlTokenKind.Word && Text.Equals(keyword, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns whether the token is this symbol.</summary>
    public bool IsSymbol(string symbol) => Kind == RqlTokenKind.Symbol && Text.Equals(symbol, StringComparison.Ordinal);
}
