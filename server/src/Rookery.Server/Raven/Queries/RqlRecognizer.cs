using System.Globalization;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Recognises the queries that need no index: <c>from</c> a collection or <c>@all_docs</c>, conditions on <c>id()</c>, <c>include</c>, <c>limit</c>/<c>offset</c>.
/// Everything else of RQL is refused by the clause's name and position, never skipped: a query that is answered is answered in full.
/// </summary>
internal sealed class RqlRecognizer
{
    private readonly QueryParameterValues _parameters;
    private readonly RqlTokenizer _tokenizer;
    private RqlToken _current;
    private string? _alias;

    private RqlRecognizer(string query, QueryParameterValues parameters)
    {
        _parameters = parameters;
        _tokenizer = new RqlTokenizer(query);
        _current = _tokenizer.Next();
    }

    /// <summary>Reads a query.</summary>
    /// <exception cref="RefusedException">400: it is no RQL. 501: it needs what this version does not have, named.</exception>
    public static IdQuery Read(string query, QueryParameterValues parameters) => new RqlRecognizer(query, parameters).ReadQuery();

    private IdQuery ReadQuery()
    {
        if (_current.IsKeyword("declare") || _current.IsKeyword("with") || _current.IsKeyword("match"))
        {
            throw NeedsMore(_current.Text.ToLowerInvariant());
        }

        Expect("from");
        string? collection = ReadSource();
        IdCondition? condition = null;
        IReadOnlyList<string> includes = [];
        long offset = 0;
        long? limit = null;
        if (Accept("where"))
        {
            condition = ReadCondition();
        }

        if (Accept("include"))
        {
            includes = ReadIncludes();
        }

        if (Accept("limit"))
        {
            (offset, limit) = ReadLimit();
        }

        if (Accept("offset"))
        {
            offset = ReadNumber() ?? 0;
        }

        RefuseRest();
        return new IdQuery { Collection = collection, Condition = condition, Includes = includes, Offset = offset, Limit = limit };
    }

    private string? ReadSource()
    {
        if (_current.IsKeyword("index"))
        {
            throw NeedsMore("from index");
        }

        if (_current.Kind is not (RqlTokenKind.Word or RqlTokenKind.Text))
        {
            throw Unexpected("the name of a collection");
        }

        string name = Take().Text;
        if (Accept("as"))
        {
            _alias = TakeName("an alias");
        }
        else if (_current.Kind == RqlTokenKind.Word && !IsClause(_current.Text))
        {
            _alias = Take().Text;
        }

        return name.Equals("@all_docs", StringComparison.OrdinalIgnoreCase) ? null : name;
    }

    private IdCondition ReadCondition()
    {
        int open = 0;
        while (_current.IsSymbol("("))
        {
            Take();
            open++;
        }

        var condition = _current.IsKeyword("startsWith") ? ReadStartsWith() : ReadComparison();
        for (; open > 0; open--)
        {
            ExpectSymbol(")");
        }

        if (_current.IsKeyword("and") || _current.IsKeyword("or"))
        {
            throw NeedsMore($"where with '{_current.Text}'");
        }

        return condition;
    }

    private IdCondition ReadStartsWith()
    {
        var start = Take();
        ExpectSymbol("(");
        ReadIdCall(start);
        ExpectSymbol(",");
        var prefix = ReadTexts();
        ExpectSymbol(")");
        return prefix.Count == 1
            ? new IdCondition(IdConditionKind.StartsWith, prefix)
            : throw RefusedException.InvalidQuery($"startsWith at position {start.Position} needs one text.");
    }

    private IdCondition ReadComparison()
    {
        ReadIdCall(_current);
        if (_current.IsSymbol("=") || _current.IsSymbol("=="))
        {
            Take();
            return new IdCondition(IdConditionKind.OneOf, ReadTexts());
        }

        if (!Accept("in"))
        {
            throw NeedsMore($"where id() with '{_current.Text}'");
        }

        ExpectSymbol("(");
        var ids = new List<string>();
        while (!_current.IsSymbol(")"))
        {
            ids.AddRange(ReadTexts());
            if (!_current.IsSymbol(")"))
            {
                ExpectSymbol(",");
            }
        }

        ExpectSymbol(")");
        return new IdCondition(IdConditionKind.OneOf, ids);
    }

    /// <summary>Reads <c>id()</c> or <c>id(alias)</c>; a condition on anything else needs an index.</summary>
    private void ReadIdCall(in RqlToken start)
    {
        if (!_current.IsKeyword("id"))
        {
            throw new RefusedException(501, RavenType.NotSupported, string.Create(CultureInfo.InvariantCulture,
                $"'where' at position {start.Position} of the query is not supported by this version: conditions other than id() = …, id() in (…) and startsWith(id(), …) need an index. Load by id, or read the collection and filter in the program."));
        }

        Take();
        ExpectSymbol("(");
        if (_alias is not null && _current.IsKeyword(_alias))
        {
            Take();
        }

        ExpectSymbol(")");
    }

    private List<string> ReadIncludes()
    {
        var paths = new List<string>();
        do
        {
            var path = _current;
            if (path.Kind is not (RqlTokenKind.Word or RqlTokenKind.Text))
            {
                throw Unexpected("a path to include");
            }

            Take();
            if (_current.IsSymbol("("))
            {
                throw NeedsMore($"include {path.Text}(…)", path.Position);
            }

            bool isQualified = _alias is not null && path.Text.StartsWith(_alias + ".", StringComparison.Ordinal);
            paths.Add(isQualified ? path.Text[(_alias!.Length + 1)..] : path.Text);
        }
        while (AcceptSymbol(","));
        return paths;
    }

    /// <summary><c>limit take</c>, or <c>limit skip, take</c>; either may be a parameter that holds null.</summary>
    private (long Offset, long? Limit) ReadLimit()
    {
        long? first = ReadNumber();
        return AcceptSymbol(",") ? (first ?? 0, ReadNumber()) : (0, first);
    }

    private long? ReadNumber()
    {
        if (_current.Kind == RqlTokenKind.Parameter)
        {
            return _parameters.Number(Take());
        }

        if (Accept("null"))
        {
            return null;
        }

        if (_current.Kind != RqlTokenKind.Number || !long.TryParse(_current.Text, NumberStyles.None, CultureInfo.InvariantCulture, out long number))
        {
            throw Unexpected("a whole number");
        }

        Take();
        return number;
    }

    private IReadOnlyList<string> ReadTexts() => _current.Kind switch
    {
        RqlTokenKind.Text => [Take().Text],
        RqlTokenKind.Parameter => _parameters.Texts(Take()),
        _ => throw Unexpected("a text or a parameter"),
    };

    private void RefuseRest()
    {
        AcceptSymbol(";");
        if (_current.Kind == RqlTokenKind.End)
        {
            return;
        }

        if (_current.Kind == RqlTokenKind.Word && IsClause(_current.Text))
        {
            var clause = Take();
            bool hasBy = clause.Text.ToLowerInvariant() is "order" or "group" && _current.IsKeyword("by");
            throw NeedsMore(hasBy ? clause.Text.ToLowerInvariant() + " by" : clause.Text.ToLowerInvariant(), clause.Position);
        }

        throw Unexpected("the end of the query");
    }

    private static bool IsClause(string word) => word.ToLowerInvariant() is
        "where" or "order" or "group" or "select" or "load" or "include" or "limit" or "offset" or "filter" or "filter_limit" or "update" or "as";

    private RqlToken Take()
    {
        var taken = _current;
        _current = _tokenizer.Next();
        return taken;
    }

    private string TakeName(string what) => _current.Kind == RqlTokenKind.Word ? Take().Text : throw Unexpected(what);

    private bool Accept(string keyword)
    {
        bool isThere = _current.IsKeyword(keyword);
        if (isThere)
        {
            Take();
        }

        return isThere;
    }

    private bool AcceptSymbol(string symbol)
    {
        bool isThere = _current.IsSymbol(symbol);
        if (isThere)
        {
            Take();
        }

        return isThere;
    }

    private void Expect(string keyword)
    {
        if (!Accept(keyword))
        {
            throw Unexpected($"'{keyword}'");
        }
    }

    private void ExpectSymbol(string symbol)
    {
        if (!AcceptSymbol(symbol))
        {
            throw Unexpected($"'{symbol}'");
        }
    }

    private RefusedException Unexpected(string wanted) => RefusedException.InvalidQuery(_current.Kind == RqlTokenKind.End
        ? $"The query ends at position {_current.Position} where {wanted} must follow."
        : $"The query has '{_current.Text}' at position {_current.Position} where {wanted} must stand.");

    private RefusedException NeedsMore(string clause) => NeedsMore(clause, _current.Position);

    private static RefusedException NeedsMore(string clause, int position) => RefusedException.NotSupported(
        $"'{clause}' at position {position} of the query is not supported by this version: queries may read a collection or @all_docs, by id() if need be, with include and limit.");
}
