namespace Rookery.Queries.Language;

/// <summary>The words of a query one after the other, with one in view.</summary>
internal sealed class RqlReader
{
    /// <summary>
    /// Brackets, functions and negations within each other, at most. Whoever walks a query may recurse.
    /// </summary>
    public const int MaxDepth = 128;

    private readonly RqlTokenizer _tokenizer;
    private int _depth;
    private int _previousEnd;

    /// <summary>The words of a text, the first one in view.</summary>
    /// <exception cref="QueryException">The first word is none.</exception>
    public RqlReader(string text)
    {
        Text = text;
        _tokenizer = new RqlTokenizer(text);
        Current = _tokenizer.Next();
    }

    /// <summary>The query's text.</summary>
    public string Text { get; }

    /// <summary>The word in view.</summary>
    public RqlToken Current { get; private set; }

    /// <summary>The text as it was written, from a position to the end of the word that was taken last.</summary>
    public string TextFrom(int position) => Text[position.._previousEnd];

    /// <summary>Takes the word in view and brings the next one there.</summary>
    public RqlToken Take()
    {
        var taken = Current;
        _previousEnd = _tokenizer.Position;
        Current = _tokenizer.Next();
        return taken;
    }

    /// <summary>Takes a keyword if it is in view.</summary>
    public bool Accept(string keyword) => AcceptIf(Current.IsKeyword(keyword));

    /// <summary>Takes a symbol if it is in view.</summary>
    public bool AcceptSymbol(string symbol) => AcceptIf(Current.IsSymbol(symbol));

    /// <summary>Takes a keyword.</summary>
    /// <exception cref="QueryException">Another word is in view.</exception>
    public void Expect(string keyword)
    {
        if (!Accept(keyword))
        {
            throw Unexpected($"'{keyword}'");
        }
    }

    /// <summary>Takes a symbol.</summary>
    /// <exception cref="QueryException">Another word is in view.</exception>
    public void ExpectSymbol(string symbol)
    {
        if (!AcceptSymbol(symbol))
        {
            throw Unexpected($"'{symbol}'");
        }
    }

    /// <summary>Takes a name: a word, or a text in quotes.</summary>
    /// <exception cref="QueryException">Something else is in view.</exception>
    public string TakeName(string wanted) =>
        Current.Kind is RqlTokenKind.Word or RqlTokenKind.Text ? Take().Text : throw Unexpected(wanted);

    /// <summary>Takes a script in braces.</summary>
    /// <exception cref="QueryException">No brace is in view, or it is not closed.</exception>
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

    /// <summary>Goes one level deeper.</summary>
    /// <exception cref="QueryException">It is too deep.</exception>
    public void Enter()
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

    /// <summary>Comes back from a level.</summary>
    public void Leave() => _depth--;

    /// <summary>What to throw when the word in view cannot stand there.</summary>
    public QueryException Unexpected(string wanted) =>
        new(
            QueryFault.Invalid,
            Current.Kind == RqlTokenKind.End
                ? $"The query ends where {wanted} must follow."
                : $"{Shown(Current)} stands where {wanted} must stand.",
            Current.Position
        );

    private static string Shown(in RqlToken token)
    {
        string text = token.Text.Length <= 40 ? token.Text : token.Text[..40] + "…";
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
