using System.Text;
using Rookery.Json;

namespace Rookery.Queries.Language;

/// <summary>Reads the tokens of a query, with one token of lookahead.</summary>
internal sealed class RqlReader
{
    /// <summary>
    /// Maximum nesting of brackets, functions and negations. It bounds the recursion of code that walks a query.
    /// </summary>
    public const int MaxDepth = 128;

    private readonly RqlTokenizer _tokenizer;
    private int _depth;
    private int _previousEnd;

    /// <summary>Creates a reader whose current token is the first.</summary>
    /// <exception cref="QueryException">The first token is invalid.</exception>
    public RqlReader(string text)
    {
        Text = text;
        _tokenizer = new RqlTokenizer(text);
        Current = _tokenizer.Next();
    }

    /// <summary>The query's text.</summary>
    public string Text { get; }

    /// <summary>The current token, which is not taken yet.</summary>
    public RqlToken Current { get; private set; }

    /// <summary>Returns the query's text from a position to the end of the token taken last.</summary>
    public string TextFrom(int position) => Text[position.._previousEnd];

    /// <summary>Returns the current token and moves to the next.</summary>
    public RqlToken Take()
    {
        var token = Current;
        _previousEnd = _tokenizer.Position;
        Current = _tokenizer.Next();
        return token;
    }

    /// <summary>Takes the current token if it is a keyword. Returns whether it did.</summary>
    public bool Accept(string keyword) => AcceptIf(Current.IsKeyword(keyword));

    /// <summary>Takes the current token if it is a symbol. Returns whether it did.</summary>
    public bool AcceptSymbol(string symbol) => AcceptIf(Current.IsSymbol(symbol));

    /// <summary>Takes a keyword.</summary>
    /// <exception cref="QueryException">The current token is something else.</exception>
    public void Expect(string keyword)
    {
        if (!Accept(keyword))
        {
            throw Unexpected($"'{keyword}'");
        }
    }

    /// <summary>Takes a symbol.</summary>
    /// <exception cref="QueryException">The current token is something else.</exception>
    public void ExpectSymbol(string symbol)
    {
        if (!AcceptSymbol(symbol))
        {
            throw Unexpected($"'{symbol}'");
        }
    }

    /// <summary>Takes a name: a word, or a text in quotes.</summary>
    /// <exception cref="QueryException">The current token is something else.</exception>
    public string TakeName(string expected) =>
        Current.Kind is RqlTokenKind.Word or RqlTokenKind.Text ? Take().Text : throw Unexpected(expected);

    /// <summary>
    /// Parses the rest of a dotted name that begins with <paramref name="first"/>. Takes time and memory in proportion
    /// to the name's length.
    /// </summary>
    /// <returns>The whole name.</returns>
    /// <exception cref="QueryException">No name follows a dot.</exception>
    public string TakeRestOfName(string first)
    {
        if (!Current.IsSymbol("."))
        {
            return first;
        }

        var name = new StringBuilder(first);
        while (AcceptSymbol("."))
        {
            name.Append('.').Append(TakeName("the rest of the name"));
        }

        return name.ToString();
    }

    /// <summary>Takes a script in braces.</summary>
    /// <exception cref="QueryException">The current token is not a brace, or the brace is not closed.</exception>
    public ScriptText TakeScript()
    {
        if (!Current.IsSymbol("{"))
        {
            throw Unexpected("a script in braces");
        }

        int start = Current.Position + 1;
        int end = ScriptEnd.Find(Text, Current.Position);
        _tokenizer.JumpTo(end + 1);
        Take();
        return new ScriptText(Text[start..end], start);
    }

    /// <summary>Enters a level of nesting.</summary>
    /// <exception cref="QueryException">The nesting is too deep.</exception>
    public void EnterLevel()
    {
        if (++_depth > MaxDepth)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"Conditions are nested deeper than {MaxDepth} levels.",
                Current.Position
            );
        }
    }

    /// <summary>Leaves a level of nesting.</summary>
    public void LeaveLevel() => _depth--;

    /// <summary>Returns the exception for a current token that is not allowed here.</summary>
    public QueryException Unexpected(string expected) =>
        new(
            QueryFault.Invalid,
            Current.Kind == RqlTokenKind.End
                ? $"The query ends where {expected} must follow."
                : $"{Shown(Current)} stands where {expected} must stand.",
            Current.Position
        );

    private static string Shown(in RqlToken token)
    {
        const int MaxShownLength = 40;
        string text = ShortText.Of(token.Text, MaxShownLength);
        return token.Kind == RqlTokenKind.Parameter ? $"'${text}'" : $"'{text}'";
    }

    private bool AcceptIf(bool isThere)
    {
        if (isThere)
        {
            Take();
        }

        return isThere;
    }
}
