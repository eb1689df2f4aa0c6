namespace Rookery.Queries.Language;

/// <summary>Parses conditions. <c>and</c> binds tighter than <c>or</c>, and <c>not</c> tighter than both.</summary>
internal sealed class ConditionReader(RqlReader reader, RqlFieldReader fields)
{
    /// <summary>
    /// Maximum values in the brackets of <c>in</c>. A parameter counts once, even if it holds a list.
    /// </summary>
    public const int MaxTerms = 10_000;

    /// <summary>Parses a whole condition.</summary>
    /// <exception cref="QueryException">The text has no condition here.</exception>
    public Condition Read() =>
        ReadChain("or", ReadConjunction, static (conditions, position) => new OrCondition(conditions, position));

    /// <summary>Parses a range of a facet: a condition whose field was already read, without any <c>or</c>.</summary>
    /// <exception cref="QueryException">The text does not continue as a condition.</exception>
    public Condition ReadRange(FieldReference field, int position)
    {
        var range = ReadComparison(field, position);
        if (!reader.Accept("and"))
        {
            return range;
        }

        var conjunction = ReadConjunction();
        return new AndCondition([range, .. conjunction is AndCondition and ? and.Conditions : [conjunction]], position);
    }

    private Condition ReadConjunction() =>
        ReadChain("and", ReadNegation, static (conditions, position) => new AndCondition(conditions, position));

    private Condition ReadChain(
        string keyword,
        Func<Condition> readOne,
        Func<IReadOnlyList<Condition>, int, Condition> join
    )
    {
        int position = reader.Current.Position;
        var first = readOne();
        if (!reader.Current.IsKeyword(keyword))
        {
            return first;
        }

        var conditions = new List<Condition> { first };
        while (reader.Accept(keyword))
        {
            conditions.Add(readOne());
        }

        return join(conditions, position);
    }

    private Condition ReadNegation()
    {
        int position = reader.Current.Position;
        reader.EnterLevel();
        var condition = reader.Accept("not") ? new NotCondition(ReadNegation(), position) : ReadOne();
        reader.LeaveLevel();
        return condition;
    }

    private Condition ReadOne()
    {
        int position = reader.Current.Position;
        if (reader.AcceptSymbol("("))
        {
            if (reader.AcceptSymbol(")"))
            {
                return new EveryCondition(position);
            }

            var inner = Read();
            reader.ExpectSymbol(")");
            return inner;
        }

        if (reader.Accept("true"))
        {
            return new EveryCondition(position);
        }

        if (reader.Accept("false"))
        {
            return new NotCondition(new EveryCondition(position), position);
        }

        if (reader.Current.Kind is RqlTokenKind.Number or RqlTokenKind.Parameter)
        {
            throw reader.Unexpected("a field or a condition (the value comes after the operator)");
        }

        var name = fields.ReadName("a field or a condition");
        if (
            name.IsFunction
            && fields.AllowsCalls
            && CallReader.TryRead(reader, fields, name, out string? onDocument) is { } call
        )
        {
            string script = CurrentOperator() is { } comparison ? CallReader.Compare(reader, call, comparison) : call;
            return new ScriptCondition(script, onDocument, position);
        }

        return name.IsFunction && TryReadFunction(name.Function, position) is { } condition
            ? condition
            : ReadComparison(fields.TryReadFunction(name) ?? throw fields.UnknownFunction(name), position);
    }

    private Condition? TryReadFunction(string function, int position) =>
        function switch
        {
            "exists" => InBrackets(() => new ExistsCondition(fields.ReadReference(), position)),
            "startswith" => ReadText(TextConditionKind.StartsWith, position),
            "endswith" => ReadText(TextConditionKind.EndsWith, position),
            "regex" => ReadText(TextConditionKind.Regex, position),
            "lucene" => InBrackets(() =>
                new LuceneCondition(fields.ReadReference(), ReadSecond(OperandReader.Read), position)
            ),
            "search" => ReadSearch(position),
            "exact" => InBrackets(() => new ExactCondition(Read(), position)),
            "boost" => InBrackets(() => new BoostCondition(Read(), ReadSecond(OperandReader.ReadNumber), position)),
            "fuzzy" => ReadFuzzy(position),
            "proximity" => ReadProximity(position),
            "intersect" => ReadIntersect(position),
            "morelikethis" => InBrackets(() => ReadMoreLikeThis(position)),
            _ => null,
        };

    private T InBrackets<T>(Func<T> read)
    {
        reader.ExpectSymbol("(");
        var inner = read();
        reader.ExpectSymbol(")");
        return inner;
    }

    private Operand ReadSecond(Func<RqlReader, Operand> read)
    {
        reader.ExpectSymbol(",");
        return read(reader);
    }

    private TextCondition ReadText(TextConditionKind kind, int position) =>
        InBrackets(() => new TextCondition(kind, fields.ReadReference(), ReadSecond(OperandReader.Read), position));

    private SearchCondition ReadSearch(int position) =>
        InBrackets(() =>
        {
            var field = fields.ReadReference();
            var terms = ReadSecond(OperandReader.Read);
            bool needsAll = false;
            if (reader.AcceptSymbol(","))
            {
                needsAll = reader.Accept("and");
                if (!needsAll && !reader.Accept("or"))
                {
                    throw reader.Unexpected("'and' or 'or'");
                }
            }

            return new SearchCondition(field, terms, needsAll, position);
        });

    private FuzzyCondition ReadFuzzy(int position) =>
        InBrackets(() =>
        {
            var inner = Read() as ComparisonCondition;
            return inner is { Operator: ComparisonOperator.Equal }
                ? new FuzzyCondition(inner, ReadSecond(OperandReader.ReadNumber), position)
                : throw new QueryException(
                    QueryFault.Invalid,
                    "fuzzy() takes one equality: fuzzy(name = 'text', 0.5).",
                    position
                );
        });

    private ProximityCondition ReadProximity(int position) =>
        InBrackets(() =>
            Read() is SearchCondition inner
                ? new ProximityCondition(inner, ReadSecond(OperandReader.ReadNumber), position)
                : throw new QueryException(
                    QueryFault.Invalid,
                    "proximity() takes one search: proximity(search(text, 'two words'), 3).",
                    position
                )
        );

    private IntersectCondition ReadIntersect(int position) =>
        InBrackets(() =>
        {
            var conditions = new List<Condition> { Read() };
            do
            {
                reader.ExpectSymbol(",");
                conditions.Add(Read());
            } while (reader.Current.IsSymbol(","));
            return new IntersectCondition(conditions, position);
        });

    private MoreLikeThisCondition ReadMoreLikeThis(int position)
    {
        var document = reader.Current.Kind is RqlTokenKind.Parameter or RqlTokenKind.Text
            ? OperandReader.Read(reader)
            : null;
        var condition = document is null ? Read() : null;
        var options = reader.AcceptSymbol(",") ? OperandReader.Read(reader) : null;
        return new MoreLikeThisCondition(document, condition, options, position);
    }

    private Condition ReadComparison(FieldReference field, int position)
    {
        if (reader.Accept("between"))
        {
            var low = OperandReader.Read(reader);
            reader.Expect("and");
            return new BetweenCondition(field, low, OperandReader.Read(reader), position);
        }

        bool isAll = reader.Accept("all");
        if (isAll && !reader.Current.IsKeyword("in"))
        {
            throw reader.Unexpected("'in'");
        }

        if (reader.Accept("in"))
        {
            return new InCondition(field, ReadTerms(), isAll, position);
        }

        var comparison =
            CurrentOperator() ?? throw reader.Unexpected("an operator (=, !=, <, <=, >, >=, in, all in, between)");
        reader.Take();
        return new ComparisonCondition(field, comparison, OperandReader.ReadCompared(reader), position);
    }

    private ComparisonOperator? CurrentOperator() =>
        reader.Current.Kind != RqlTokenKind.Symbol
            ? null
            : reader.Current.Text switch
            {
                "=" or "==" => ComparisonOperator.Equal,
                "!=" or "<>" => ComparisonOperator.NotEqual,
                "<" => ComparisonOperator.Less,
                "<=" => ComparisonOperator.LessOrEqual,
                ">" => ComparisonOperator.Greater,
                ">=" => ComparisonOperator.GreaterOrEqual,
                _ => null,
            };

    private List<Operand> ReadTerms() =>
        InBrackets(() =>
        {
            var terms = new List<Operand>();
            while (!reader.Current.IsSymbol(")") && (terms.Count == 0 || reader.AcceptSymbol(",")))
            {
                if (terms.Count == MaxTerms)
                {
                    throw new QueryException(
                        QueryFault.TooCostly,
                        $"'in' takes at most {MaxTerms} values in brackets; send longer lists as one parameter.",
                        reader.Current.Position
                    );
                }

                terms.Add(OperandReader.Read(reader));
            }

            return terms;
        });
}
