using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>
/// Parses the clauses after <c>from</c>. Clauses that restrict, group or order documents come first, in any order; then
/// <c>select</c> or <c>update</c>; then <c>include</c>, <c>limit</c> and <c>offset</c>. Each clause may occur once.
/// </summary>
internal sealed class ClauseReader
{
    private readonly RqlReader _reader;
    private readonly RqlFieldReader _fields;
    private readonly ConditionReader _conditions;
    private readonly SelectionReader _selections;
    private readonly IReadOnlyList<DeclaredFunction> _functions;
    private readonly List<FieldPath> _compared = [];
    private readonly Dictionary<string, int> _positionOfClause = new(StringComparer.OrdinalIgnoreCase);
    private string _lastClause = "";

    /// <summary>Creates a parser positioned after the source of <c>from</c>.</summary>
    public ClauseReader(RqlReader reader, RqlFieldReader fields, IReadOnlyList<DeclaredFunction> functions)
    {
        _reader = reader;
        _fields = fields;
        _functions = functions;
        _conditions = new ConditionReader(reader, fields);
        _selections = new SelectionReader(reader, fields, new FacetReader(reader, fields, _conditions), functions);
    }

    /// <summary>Returns whether a word begins a clause. Such a word cannot be an alias without <c>as</c>.</summary>
    public static bool IsClause(string word) => Rank(word) > 0;

    /// <summary>Parses all clauses, up to the end of the text.</summary>
    /// <exception cref="QueryException">A clause is invalid, or the text does not end after the last.</exception>
    public Query Read(Source source)
    {
        var query = new Query
        {
            Text = _reader.Text,
            Source = source,
            Functions = _functions,
        };
        while (_reader.Current.Kind == RqlTokenKind.Word && Rank(_reader.Current.Text) > 0)
        {
            var clause = TakeClause();
            _fields.CollectedPaths = Rank(clause.Text) == 1 && !clause.IsKeyword("load") ? _compared : null;
            query = clause.Text.ToLowerInvariant() switch
            {
                "group" => query with { GroupBy = ReadBy(ReadGroupKey) },
                "where" => query with { Where = _conditions.Read() },
                "order" => query with { OrderBy = ReadBy(new OrderReader(_reader, _fields).Read) },
                "load" => query with { Loads = ReadList(ReadLoad) },
                "filter" => query with { Filter = _conditions.Read() },
                "filter_limit" => query with { FilterLimit = OperandReader.ReadCount(_reader) },
                "select" => query with { Select = _selections.Read() },
                "update" => query with { Update = _reader.TakeScript() },
                "include" => query with { Includes = ReadList(new IncludeReader(_reader, _fields, query.Loads).Read) },
                "offset" => ReadOffset(query, clause),
                _ => ReadLimit(query),
            };
        }

        if (query.FilterLimit is { } limit && query.Filter is null)
        {
            throw new QueryException(QueryFault.Invalid, "'filter_limit' needs a 'filter'.", limit.Position);
        }

        RefuseLoaded(query.Loads);
        if (source.Alias is { } alias)
        {
            RequireAlias(alias, query.Loads);
        }

        _reader.AcceptSymbol(";");
        if (_reader.Current.Kind == RqlTokenKind.End)
        {
            return query;
        }

        UnsupportedParts.RefuseClause(_reader.Current);
        throw _reader.Unexpected("a clause or the end of the query");
    }

    // Documents are loaded for results only. A condition would look for a loaded document's field in the queried
    // document and match nothing, so it is refused.
    private void RefuseLoaded(IReadOnlyList<LoadClause> loads)
    {
        if (
            _compared.Find(path =>
                loads.Any(load => string.Equals(load.Alias, path.Steps[0].Name, StringComparison.Ordinal))
            ) is
            { } path
        )
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'{path}' is a field of a loaded document, which only 'select' may use in this version. To "
                    + $"search by it, define a static index with LoadDocument.",
                path.Position
            );
        }
    }

    // After 'from Orders as o', a path of several names begins with an alias, as in RavenDB. A path without the alias
    // would match nothing, so it is refused.
    private void RequireAlias(string alias, IReadOnlyList<LoadClause> loads)
    {
        if (
            _fields.Unaliased.Find(path =>
                path.Steps[0].Name is [not '@', ..] first
                && !string.Equals(first, alias, StringComparison.Ordinal)
                && !loads.Any(load => string.Equals(load.Alias, first, StringComparison.Ordinal))
            ) is
            { } unknown
        )
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{unknown.Steps[0].Name}' is no alias of this query. Write '{alias}.{unknown}' for a path of its "
                    + "documents.",
                unknown.Position
            );
        }
    }

    /// <summary>
    /// Returns the part of a query that a clause belongs to, from 1 to 4; 0 if the word begins no clause.
    /// </summary>
    private static int Rank(string word) =>
        word.ToLowerInvariant() switch
        {
            "group" or "where" or "order" or "load" or "filter" => 1,
            "select" or "update" => 2,
            "include" => 3,
            "limit" or "offset" or "filter_limit" => 4,
            _ => 0,
        };

    private RqlToken TakeClause()
    {
        var clause = _reader.Take();
        string name = clause.Text.ToLowerInvariant();
        if (!_positionOfClause.TryAdd(name, clause.Position))
        {
            throw new QueryException(QueryFault.Invalid, $"'{name}' occurs twice.", clause.Position);
        }

        // RavenDB allows `include` only before `limit`. People also write it after, so both are accepted.
        bool isLate = name is not ("filter_limit" or "include") && Rank(name) < Rank(_lastClause);
        if (isLate || (name is "update" && _positionOfClause.ContainsKey("select")))
        {
            throw new QueryException(QueryFault.Invalid, $"'{name}' cannot follow '{_lastClause}'.", clause.Position);
        }

        _lastClause = name is "filter_limit" ? _lastClause : name;
        return clause;
    }

    private List<T> ReadBy<T>(Func<T> read)
    {
        _reader.Expect("by");
        return ReadList(read);
    }

    private List<T> ReadList<T>(Func<T> read)
    {
        var list = new List<T>();
        do
        {
            list.Add(read());
        } while (_reader.AcceptSymbol(","));
        return list;
    }

    private GroupKey ReadGroupKey()
    {
        RefuseValue("group by");
        var name = _fields.ReadName("a field");
        if (!name.IsFunction)
        {
            return new GroupKey(name.Path, IsWholeArray: false, _fields.TryReadAlias());
        }

        if (name.Function is not "array")
        {
            throw _fields.UnknownFunction(name);
        }

        _reader.ExpectSymbol("(");
        var path = _fields.ReadPath();
        _reader.ExpectSymbol(")");
        return new GroupKey(path, IsWholeArray: true, _fields.TryReadAlias());
    }

    private LoadClause ReadLoad()
    {
        if (_reader.Current.Kind == RqlTokenKind.Text)
        {
            throw UnsupportedParts.Refusal($"load '{_reader.Current.Text}'", _reader.Current.Position);
        }

        RefuseValue("load");
        var path = _fields.ReadPath("a field that holds an id");
        _reader.Expect("as");
        string alias = _reader.TakeName("a name");
        bool isMany = _reader.AcceptSymbol("[");
        if (isMany)
        {
            _reader.ExpectSymbol("]");
        }

        return new LoadClause(path, alias, isMany);
    }

    /// <summary>
    /// Refuses a value where the clause needs a field. RavenDB accepts a value here. Read as the name of a field, the
    /// value would change the query's meaning.
    /// </summary>
    private void RefuseValue(string clause)
    {
        var start = _reader.Current;
        if (
            start.Kind is RqlTokenKind.Number or RqlTokenKind.Parameter
            || start.IsKeyword("null")
            || start.IsKeyword("true")
            || start.IsKeyword("false")
        )
        {
            throw UnsupportedParts.Refusal(
                $"{clause} {(start.Kind == RqlTokenKind.Parameter ? "$" : "")}{start.Text}",
                start.Position
            );
        }
    }

    /// <summary>Parses <c>limit take</c>, or <c>limit skip, take</c>.</summary>
    private Query ReadLimit(Query query)
    {
        int position = _reader.Current.Position;
        var first = OperandReader.ReadCount(_reader);
        if (!_reader.AcceptSymbol(","))
        {
            return query with { Limit = first };
        }

        return query.Offset is null
            ? query with
            {
                Offset = first,
                Limit = OperandReader.ReadCount(_reader),
            }
            : throw new QueryException(
                QueryFault.Invalid,
                "'offset' and the first number of 'limit' have the same meaning. Remove one of them.",
                position
            );
    }

    private Query ReadOffset(Query query, in RqlToken clause) =>
        query.Offset is null
            ? query with
            {
                Offset = OperandReader.ReadCount(_reader),
            }
            : throw new QueryException(
                QueryFault.Invalid,
                "'offset' and the first number of 'limit' have the same meaning. Remove one of them.",
                clause.Position
            );
}
