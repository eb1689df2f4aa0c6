namespace Rookery.Queries.Language;

/// <summary>The kinds of words in a query's text.</summary>
internal enum RqlTokenKind
{
    /// <summary>Nothing follows.</summary>
    End,

    /// <summary>A name or keyword: letters, digits, <c>_ @ -</c>.</summary>
    Word,

    /// <summary>Text in single or double quotes, escapes resolved.</summary>
    Text,

    /// <summary>A parameter: <c>$name</c>, without the dollar sign.</summary>
    Parameter,

    /// <summary>A number in JSON's form.</summary>
    Number,

    /// <summary>One or two characters of punctuation or an operator.</summary>
    Symbol,
}

/// <summary>A word of a query's text.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">Its text, without quotes or dollar sign.</param>
/// <param name="Position">Characters of the query before it.</param>
internal readonly record struct RqlToken(RqlTokenKind Kind, string Text, int Position)
{
    /// <summary>Whether it is this keyword; keywords have no case.</summary>
    public bool IsKeyword(string keyword) =>
        Kind == RqlTokenKind.Word && Text.Equals(keyword, StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether it is this punctuation or operator.</summary>
    public bool IsSymbol(string symbol) => Kind == RqlTokenKind.Symbol && Text.Equals(symbol, StringComparison.Ordinal);
}
