namespace Rookery.Queries.Language;

/// <summary>Parses a query in one pass. Time and memory are proportional to the length of the text.</summary>
public static class RqlParser
{
    /// <summary>Parses a query.</summary>
    /// <param name="text">The text in RQL. The caller limits its length.</param>
    /// <exception cref="QueryException">The text is not a query, or uses a part of RQL that this version
    /// lacks.</exception>
    public static Query Parse(string text) => Parse(text, isCriteria: false);

    /// <summary>
    /// Parses the query of a subscription, whose conditions may also call declared functions
    /// (<see cref="ScriptCondition"/>).
    /// </summary>
    /// <inheritdoc cref="Parse(string)"/>
    public static Query ParseCriteria(string text) => Parse(text, isCriteria: true);

    private static Query Parse(string text, bool isCriteria)
    {
        ArgumentNullException.ThrowIfNull(text);
        var reader = new RqlReader(text);
        var functions = ReadFunctions(reader);
        var fields = new RqlFieldReader(reader) { Functions = functions, AllowsCalls = isCriteria };
        var source = ReadSource(reader);
        if (source.OfRevisions && !isCriteria)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'(Revisions = true)' is supported in the query of a subscription only. GET revisions reads those of a "
                    + "document.",
                source.Position
            );
        }

        fields.Alias = source.Alias;
        return SimplifySummary(NameGroupKey(new ClauseReader(reader, fields, functions).Read(source)));
    }

    /// <summary>
    /// Drops what has no effect on a query for facets or suggestions: the order, because a summary has none, and for
    /// suggestions also the included documents, because suggestions refer to no document. Clients send these clauses
    /// when they derive such a query from a query for documents. Any other <c>include</c> is refused, because the
    /// answer would not contain it.
    /// </summary>
    private static Query SimplifySummary(Query query)
    {
        if (query.Select is not FieldSelection { Items: [{ Source: SelectedFacet or SelectedSuggestion } first, ..] })
        {
            return query;
        }

        var refused = query.Includes.FirstOrDefault(static include =>
            include.Kind is not (IncludeKind.Documents or IncludeKind.Timings)
        );
        return refused is null
            ? query with
            {
                OrderBy = [],
                Includes =
                    first.Source is SelectedFacet
                        ? query.Includes
                        : [.. query.Includes.Where(static include => include.Kind != IncludeKind.Documents)],
            }
            : throw new QueryException(
                QueryFault.NotSupported,
                $"'include {NameOf(refused.Kind)}' beside facets or suggestions is not supported. Ask for it in a "
                    + "query of its own.",
                refused.Position
            );
    }

    private static string NameOf(IncludeKind function) =>
        function switch
        {
            IncludeKind.CompareExchange => "cmpxchg()",
            IncludeKind.Counters => "counters()",
            IncludeKind.Revisions => "revisions()",
            IncludeKind.Highlight => "highlight()",
            _ => "explanations()",
        };

    /// <summary>
    /// As in RavenDB: with one key in <c>group by</c>, <c>select key()</c> without an alias gets that key's name. With
    /// several keys, or if another member has that name already, it is named <c>Key</c>.
    /// </summary>
    private static Query NameGroupKey(Query query)
    {
        if (query.GroupBy is not [var key] || query.Select is not FieldSelection selection)
        {
            return query;
        }

        string name = key.Alias ?? key.Path.ToString();
        return selection.Items.Any(item => string.Equals(OwnNameOf(item), name, StringComparison.Ordinal))
            ? query
            : query with
            {
                Select = selection with
                {
                    Items =
                    [
                        .. selection.Items.Select(item =>
                            item is { Alias: null, Source: SelectedReference { Field: GroupKeyReference } }
                                ? item with
                                {
                                    Alias = name,
                                }
                                : item
                        ),
                    ],
                },
            };
    }

    private static string? OwnNameOf(SelectedField item) =>
        item.Alias
        ?? item.Source switch
        {
            SelectedReference { Field: PathReference path } => path.Path.ToString(),
            SelectedReference { Field: AggregateReference { Path: { } path } } => path.ToString(),
            _ => null,
        };

    private static List<DeclaredFunction> ReadFunctions(RqlReader reader)
    {
        var functions = new List<DeclaredFunction>();
        var names = new HashSet<string>(StringComparer.Ordinal);
        while (reader.Current.IsKeyword("declare"))
        {
            var declare = reader.Take();
            if (reader.Current.IsKeyword("timeseries"))
            {
                throw UnsupportedParts.Refusal("declare timeseries", declare.Position);
            }

            if (reader.Current.IsKeyword("async"))
            {
                throw UnsupportedParts.Refusal("async function", reader.Current.Position);
            }

            reader.Expect("function");
            if (reader.Current.IsSymbol("*"))
            {
                throw UnsupportedParts.Refusal("function*", reader.Current.Position);
            }

            var name = reader.Current;
            functions.Add(
                new DeclaredFunction(TakeWord(reader, "a function's name"), ReadParameters(reader), reader.TakeScript())
            );
            if (!names.Add(name.Text))
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"The function '{name.Text}' is declared twice.",
                    name.Position
                );
            }
        }

        return functions;
    }

    private static List<string> ReadParameters(RqlReader reader)
    {
        var parameters = new List<string>();
        reader.ExpectSymbol("(");
        while (!reader.Current.IsSymbol(")") && (parameters.Count == 0 || reader.AcceptSymbol(",")))
        {
            RefuseParameter(reader, ["{", "["], "a pattern as a parameter");
            RefuseParameter(reader, [".", "..", "..."], "a rest parameter");
            parameters.Add(TakeWord(reader, "a parameter's name"));
            RefuseParameter(reader, ["="], "a default value of a parameter");
        }

        reader.ExpectSymbol(")");
        return parameters;
    }

    private static void RefuseParameter(RqlReader reader, ReadOnlySpan<string> symbols, string construct)
    {
        foreach (string symbol in symbols)
        {
            if (reader.Current.IsSymbol(symbol))
            {
                throw UnsupportedParts.Refusal(construct, reader.Current.Position);
            }
        }
    }

    private static Source ReadSource(RqlReader reader)
    {
        UnsupportedParts.RefuseClause(reader.Current);
        reader.Expect("from");
        var start = reader.Current;
        var first = reader.Current.Kind is RqlTokenKind.Word or RqlTokenKind.Text
            ? reader.Take()
            : throw reader.Unexpected("the name of a collection");
        bool isIndex = first.IsKeyword("index");
        string name = reader.TakeRestOfName(isIndex ? reader.TakeName("the name of an index") : first.Text);
        bool ofRevisions = !isIndex && reader.AcceptSymbol("(");
        if (ofRevisions)
        {
            reader.Expect("Revisions");
            reader.ExpectSymbol("=");
            reader.Expect("true");
            reader.ExpectSymbol(")");
        }

        string? alias = null;
        if (
            reader.Accept("as")
            || (reader.Current.Kind == RqlTokenKind.Word && !ClauseReader.IsClause(reader.Current.Text))
        )
        {
            alias = TakeWord(reader, "an alias");
        }

        var kind =
            isIndex ? SourceKind.Index
            : name.Equals("@all_docs", StringComparison.OrdinalIgnoreCase) ? SourceKind.AllDocuments
            : SourceKind.Collection;
        return new Source(kind, name, alias, start.Position) { OfRevisions = ofRevisions };
    }

    private static string TakeWord(RqlReader reader, string expected) =>
        reader.Current.Kind == RqlTokenKind.Word ? reader.Take().Text : throw reader.Unexpected(expected);
}
