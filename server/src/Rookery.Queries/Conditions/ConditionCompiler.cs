using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>Compiles conditions to predicates.</summary>
/// <param name="fields">Resolves fields.</param>
/// <param name="operands">Resolves parameters.</param>
/// <param name="fullText">Compiles full-text conditions; null to refuse them.</param>
internal sealed class ConditionCompiler(FieldResolver fields, OperandValues operands, IFullTextConditions? fullText)
{
    /// <summary>Maximum conditions of one query. Each may be evaluated for each document.</summary>
    private const int MaxConditions = 1_024;

    /// <summary>
    /// Maximum values of all <c>in</c> lists of one query together. They stay in memory while the query runs.
    /// </summary>
    private const int MaxValues = 65_536;

    /// <summary>
    /// Maximum bytes of all values in conditions. A parameter counts once for each use, because each use is read and
    /// hashed.
    /// </summary>
    private const long MaxValueBytes = 8 * 1024 * 1024;

    /// <summary>Maximum bytes of one pattern or search text. Each condition holds a copy.</summary>
    private const int MaxTextBytes = 4_096;

    // Bytes of such a text as JSON: the quotes, and up to 6 characters for each escaped byte.
    private const int MaxTextJsonBytes = (MaxTextBytes * 6) + 2;

    /// <summary>Maximum regular expressions of one query. The largest automaton takes hundreds of KiB.</summary>
    private const int MaxRegularExpressions = 8;

    /// <summary>Maximum nesting of conditions. Compiling recurses.</summary>
    private const int MaxDepth = 256;

    private readonly List<(Condition Finder, ISimilarityCondition Condition)> _moreLikeThis = [];
    private int _conditions;
    private int _values;
    private long _valueBytes;
    private int _regularExpressions;
    private int _depth;

    /// <summary>
    /// The <c>moreLikeThis</c> conditions whose model document must be found before the query runs, each with the
    /// condition that finds the document.
    /// </summary>
    public IReadOnlyList<(Condition Finder, ISimilarityCondition Condition)> MoreLikeThis => _moreLikeThis;

    /// <summary>Compiles a condition.</summary>
    /// <param name="condition">The condition; null matches every document.</param>
    /// <exception cref="QueryException">The condition is invalid, unsupported here, or too large.</exception>
    public Predicate Compile(Condition? condition) =>
        condition is null ? new ConstantPredicate(true) : Compile(condition, isExact: false);

    /// <summary>Reads the range of keys between two operands.</summary>
    /// <param name="low">The lower bound; null, or a text <c>*</c> or <c>NULL</c>, for none.</param>
    /// <param name="isLowIncluded">Whether the lower bound is included.</param>
    /// <param name="high">The upper bound, in the same form.</param>
    /// <param name="isHighIncluded">Whether the upper bound is included.</param>
    /// <param name="isExact">Whether texts are compared with case.</param>
    public KeyRange ReadRange(Operand? low, bool isLowIncluded, Operand? high, bool isHighIncluded, bool isExact) =>
        new(KeyOfBound(low, isExact), isLowIncluded, KeyOfBound(high, isExact), isHighIncluded);

    // null is the only JSON value that begins with n.
    private static bool IsJsonNull(byte[] json) => json[0] == (byte)'n';

    private Predicate Compile(Condition condition, bool isExact)
    {
        RefuseAbove(MaxConditions, ++_conditions, "conditions: use 'in' with a list", condition.Position);
        if (++_depth > MaxDepth)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"Conditions are nested deeper than {MaxDepth} levels.",
                condition.Position
            );
        }

        Predicate compiled = condition switch
        {
            AndCondition and => new AndPredicate(CompileEach(and.Conditions, isExact)),
            IntersectCondition intersect => new AndPredicate(CompileEach(intersect.Conditions, isExact)),
            OrCondition or => new OrPredicate(CompileEach(or.Conditions, isExact)),
            NotCondition not => new NotPredicate(Compile(not.Inner, isExact)),
            EveryCondition => new ConstantPredicate(true),
            ExactCondition exact => Compile(exact.Inner, isExact: true),
            ComparisonCondition comparison => CompileComparison(comparison, isExact),
            BetweenCondition between => CompileRange(
                between.Field,
                ReadRange(between.Low, isLowIncluded: true, between.High, isHighIncluded: true, isExact),
                isExact
            ),
            InCondition isIn => CompileIn(isIn, isExact),
            ExistsCondition exists => new ExistsPredicate(fields.CreateReader(exists.Field)),
            TextCondition text => CompileText(text, isExact),
            LuceneCondition lucene => CompileLucene(lucene, isExact),
            SearchCondition or FuzzyCondition or ProximityCondition or MoreLikeThisCondition when isExact =>
                throw NotExact(condition),
            SearchCondition search => CompileSearch(search),
            FuzzyCondition fuzzy => CompileFuzzy(fuzzy),
            ProximityCondition proximity => CompileProximity(proximity),
            BoostCondition boost => new BoostPredicate(Compile(boost.Inner, isExact), ReadFactor(boost.Factor)),
            MoreLikeThisCondition moreLikeThis => CompileMoreLikeThis(moreLikeThis),
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "A condition of this kind is not supported here.",
                condition.Position
            ),
        };
        _depth--;
        return compiled;
    }

    private Predicate[] CompileEach(IReadOnlyList<Condition> conditions, bool isExact)
    {
        var compiled = new Predicate[conditions.Count];
        for (int i = 0; i < compiled.Length; i++)
        {
            compiled[i] = Compile(conditions[i], isExact);
        }

        return compiled;
    }

    private Predicate CompileComparison(ComparisonCondition comparison, bool isExact)
    {
        switch (comparison.Operator)
        {
            case ComparisonOperator.Equal:
                return CompileTerms(comparison.Field, [ReadComparable(comparison.Value)], isExact);
            case ComparisonOperator.NotEqual:
                return new NotPredicate(CompileTerms(comparison.Field, [ReadComparable(comparison.Value)], isExact));
            case ComparisonOperator.Less or ComparisonOperator.LessOrEqual:
                bool isHighIncluded = comparison.Operator == ComparisonOperator.LessOrEqual;
                return CompileRange(
                    comparison.Field,
                    ReadRange(low: null, isLowIncluded: false, comparison.Value, isHighIncluded, isExact),
                    isExact
                );
            default:
                bool isLowIncluded = comparison.Operator == ComparisonOperator.GreaterOrEqual;
                return CompileRange(
                    comparison.Field,
                    ReadRange(comparison.Value, isLowIncluded, high: null, isHighIncluded: false, isExact),
                    isExact
                );
        }
    }

    private Predicate CompileIn(InCondition isIn, bool isExact)
    {
        var reader = fields.CreateReader(isIn.Field); // also for an empty list: refuses an unknown field
        var values = new List<byte[]>();
        foreach (byte[] value in operands.ReadElements(isIn.Values))
        {
            RefuseAbove(MaxValues, ++_values, "values after 'in'", isIn.Position);
            values.Add(CountBytes(value, isIn.Position));
        }

        if (values.Count == 0)
        {
            return new ConstantPredicate(false);
        }

        return isIn.IsAll
            ? new AllTermsPredicate(reader, new TermSet(values, isExact), isExact)
            : new TermsPredicate(reader, new TermSet(values, isExact), isExact);
    }

    private TermsPredicate CompileTerms(FieldReference field, IReadOnlyList<byte[]> values, bool isExact) =>
        new(fields.CreateReader(field), new TermSet(values, isExact), isExact);

    private Predicate CompileRange(FieldReference field, KeyRange range, bool isExact)
    {
        var reader = fields.CreateReader(field); // also for an empty range: refuses an unknown field
        return range.IsEmpty ? new ConstantPredicate(false) : new RangePredicate(reader, range, isExact);
    }

    private byte[]? KeyOfBound(Operand? operand, bool isExact)
    {
        if (operand is null)
        {
            return null;
        }
        byte[] json = ReadScalar(operand);
        bool isUnbounded =
            IsJsonNull(json) || json.AsSpan().SequenceEqual("\"*\""u8) || json.AsSpan().SequenceEqual("\"NULL\""u8);
        if (isUnbounded)
        {
            return null;
        }

        byte[] key = new byte[TermKey.MaxBytes];
        return key[..TermKey.Write(json, isExact, key)];
    }

    private TextPredicate CompileText(TextCondition condition, bool isExact)
    {
        string clause = condition.Kind switch
        {
            TextConditionKind.StartsWith => "startsWith",
            TextConditionKind.EndsWith => "endsWith",
            _ => "regex",
        };
        byte[] text = ReadTextBytes(condition.Text, clause);
        TextPattern pattern = condition.Kind switch
        {
            TextConditionKind.StartsWith => new BeginningPattern(isExact ? text : Fold(text)),
            TextConditionKind.EndsWith => new EndPattern(isExact ? text : Fold(text)),
            _ => CompileRegex(Encoding.UTF8.GetString(text), isExact, condition.Text.Position),
        };
        return new TextPredicate(fields.CreateReader(condition.Field), pattern, isExact);
    }

    private RegexPattern CompileRegex(string pattern, bool isExact, int position)
    {
        RefuseAbove(MaxRegularExpressions, ++_regularExpressions, "regular expressions", position);
        return new RegexPattern(pattern, isExact, position);
    }

    private Predicate CompileLucene(LuceneCondition lucene, bool isExact)
    {
        if (IsJsonNull(operands.ReadJson(lucene.Clause)))
        {
            return CompileTerms(lucene.Field, ["null"u8.ToArray()], isExact);
        }

        var clause = LuceneParser.Parse(ReadText(lucene.Clause, "lucene"), lucene.Clause.Position);
        return fullText is null
            ? throw NotSupported("lucene", lucene)
            : new LucenePredicates(fields, fullText, lucene, isExact).Make(clause);
    }

    private FullTextPredicate CompileSearch(SearchCondition search) =>
        fullText is null
            ? throw NotSupported("search", search)
            : new FullTextPredicate(
                fullText.CompileSearch(search, fields.CreateReader(search.Field), ReadText(search.Terms, "search"))
            );

    private FullTextPredicate CompileFuzzy(FuzzyCondition fuzzy) =>
        fullText is null
            ? throw NotSupported("fuzzy", fuzzy)
            : new FullTextPredicate(
                fullText.CompileFuzzy(
                    fuzzy,
                    fields.CreateReader(fuzzy.Inner.Field),
                    ReadText(fuzzy.Inner.Value, "fuzzy"),
                    ReadSimilarity(fuzzy.Similarity)
                )
            );

    private FullTextPredicate CompileProximity(ProximityCondition proximity) =>
        fullText is null
            ? throw NotSupported("proximity", proximity)
            : new FullTextPredicate(
                fullText.CompileProximity(
                    proximity,
                    fields.CreateReader(proximity.Inner.Field),
                    ReadText(proximity.Inner.Terms, "proximity"),
                    operands.ReadRequiredCount(proximity.Distance, "proximity")
                )
            );

    private FullTextPredicate CompileMoreLikeThis(MoreLikeThisCondition moreLikeThis)
    {
        if (fullText is null || fields is not (DocumentFields or RowFields))
        {
            throw NotSupported("moreLikeThis", moreLikeThis);
        }

        ISimilarityCondition compiled = fullText.CompileMoreLikeThis(moreLikeThis, operands);
        if (moreLikeThis.Condition is { } condition)
        {
            _moreLikeThis.Add((condition, compiled));
            return new FullTextPredicate(compiled);
        }

        Operand model = moreLikeThis.Document!;
        // The model is a document, as an object or as a text that contains one, or the id of a document.
        byte[] json = operands.ReadJson(model);
        byte[] documentOrId = json[0] == (byte)'"' ? operands.ReadText(model, "moreLikeThis") : json;
        bool isDocument = documentOrId.AsSpan().TrimStart(" \t\r\n"u8) is [(byte)'{', ..];
        if (isDocument)
        {
            var members = QueryParameters.MembersOf(documentOrId, "The document of 'moreLikeThis'", model.Position);
            compiled.SetModel(new QueriedDocument(members));
        }
        else
        {
            _moreLikeThis.Add(
                (
                    new ComparisonCondition(
                        new IdReference(model.Position),
                        ComparisonOperator.Equal,
                        model,
                        model.Position
                    ),
                    compiled
                )
            );
        }

        return new FullTextPredicate(compiled);
    }

    private string ReadText(Operand operand, string clause) => Encoding.UTF8.GetString(ReadTextBytes(operand, clause));

    private double ReadSimilarity(Operand operand) =>
        double.TryParse(
            operands.ReadScalar(operand),
            NumberStyles.Float,
            CultureInfo.InvariantCulture,
            out double value
        ) && value is >= 0 and <= 1
            ? value
            : throw new QueryException(QueryFault.Invalid, "'fuzzy' needs a similarity from 0 to 1.", operand.Position);

    private double ReadFactor(Operand operand) =>
        double.TryParse(
            operands.ReadScalar(operand),
            NumberStyles.Float,
            CultureInfo.InvariantCulture,
            out double value
        )
        && value >= 0
        && double.IsFinite(value)
            ? value
            : throw new QueryException(QueryFault.Invalid, "'boost' needs a factor of 0 or more.", operand.Position);

    private byte[] ReadComparable(Operand operand) => CountBytes(operands.ReadComparable(operand), operand.Position);

    private byte[] ReadScalar(Operand operand) => CountBytes(operands.ReadScalar(operand), operand.Position);

    /// <summary>Returns the pattern or search text of an operand. Checks its length before copying it.</summary>
    private byte[] ReadTextBytes(Operand operand, string clause) =>
        operands.ReadJson(operand).Length <= MaxTextJsonBytes
        && operands.ReadText(operand, clause) is { Length: <= MaxTextBytes } text
            ? text
            : throw new QueryException(
                QueryFault.TooCostly,
                $"'{clause}' takes a text of at most {MaxTextBytes} bytes.",
                operand.Position
            );

    private byte[] CountBytes(byte[] json, int position)
    {
        _valueBytes += json.Length;
        return _valueBytes <= MaxValueBytes
            ? json
            : throw new QueryException(
                QueryFault.TooCostly,
                $"The values that a query compares with take at most {MaxValueBytes / (1024 * 1024)} MiB. A "
                    + $"parameter counts once for each use: use fewer values, or each parameter less often.",
                position
            );
    }

    private static void RefuseAbove(int max, int count, string parts, int position)
    {
        if (count > max)
        {
            throw new QueryException(QueryFault.TooCostly, $"A query takes at most {max} {parts}.", position);
        }
    }

    internal static byte[] Fold(byte[] text)
    {
        byte[] folded = new byte[TextFolding.MaxBytes(text.Length)];
        return folded[..TextFolding.FoldAll(text, folded)];
    }

    private static QueryException NotExact(Condition condition) =>
        new(
            QueryFault.NotSupported,
            $"'exact' around '{condition switch
            {
                SearchCondition => "search",
                FuzzyCondition => "fuzzy",
                ProximityCondition => "proximity",
                _ => "moreLikeThis",
            }}' is not supported by this version, because it compares without case: leave 'exact' out.",
            condition.Position
        );

    private static QueryException NotSupported(string clause, Condition condition) =>
        new(
            QueryFault.NotSupported,
            $"'{clause}' is not supported here: it needs a full-text index.",
            condition.Position
        );
}
