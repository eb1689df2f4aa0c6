using System.Text;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Summaries;

/// <summary>The order of a facet's values.</summary>
internal enum FacetOrder
{
    ValueAsc,
    ValueDesc,
    CountAsc,
    CountDesc,
}

/// <summary>The aggregates of one field in each bucket, which RavenDB's answer groups by field.</summary>
/// <param name="Name">The field's path or alias.</param>
/// <param name="Reader">Reads the numbers.</param>
/// <param name="Kinds">The aggregates.</param>
internal sealed record FacetNumbers(string Name, FieldReader Reader, AggregateKind[] Kinds);

/// <summary>A compiled facet.</summary>
internal sealed class FacetPlan
{
    /// <summary>The name of a facet without field and ranges, and of its single bucket.</summary>
    public const string AllResults = "@AllResults";

    private FacetPlan(
        string name,
        FieldReader? field,
        (string Text, Predicate Condition)[] ranges,
        FacetNumbers[] numbers,
        ClauseOptions options,
        int position
    )
    {
        Name = name;
        Field = field;
        Ranges = ranges;
        Numbers = numbers;
        Order = options.ReadWord("TermSortMode", FacetOrder.ValueAsc);
        Start = options.ReadCount("Start", defaultValue: 0);
        PageSize = options.ReadCount("PageSize", int.MaxValue);
        NamesRemaining = options.ReadFlag("IncludeRemainingTerms");
        options.RefuseUnread();
        if (field is null && Order != FacetOrder.ValueAsc)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'TermSortMode' {Order} orders the values of a field. Ranges keep the order of the query: leave it "
                    + "out.",
                position
            );
        }
    }

    /// <summary>The name in the answer.</summary>
    public string Name { get; }

    /// <summary>The field to count by; null if there are ranges.</summary>
    public FieldReader? Field { get; }

    /// <summary>The path of <see cref="Field"/>, as written.</summary>
    public FieldPath? FieldPath { get; private init; }

    /// <summary>The ranges, one bucket each.</summary>
    public (string Text, Predicate Condition)[] Ranges { get; }

    /// <summary>The aggregates of each bucket.</summary>
    public FacetNumbers[] Numbers { get; }

    /// <summary>The order of the values.</summary>
    public FacetOrder Order { get; }

    /// <summary>Values to skip.</summary>
    public long Start { get; }

    /// <summary>Maximum values to return.</summary>
    public long PageSize { get; }

    /// <summary>Whether to list the names of the values after the page.</summary>
    public bool NamesRemaining { get; }

    /// <summary>Compiles a facet.</summary>
    /// <exception cref="QueryException">The facet is invalid.</exception>
    public static FacetPlan Of(
        SelectedFacet facet,
        string? alias,
        FieldResolver fields,
        ConditionCompiler conditions,
        OperandValues operands
    )
    {
        if (facet.SetupDocument is { } setup)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'facet(id(…))' is not supported here: a stored facet setup has to be read first.",
                setup.Position
            );
        }

        (string, Predicate)[] ranges =
        [
            .. facet.Ranges.Select(range => (TextOf(range, operands), conditions.Compile(range))),
        ];
        if (facet.Field is null && ranges.Length == 0)
        {
            ranges = [(AllResults, new ConstantPredicate(true))];
        }

        string name =
            alias ?? facet.Field?.ToString() ?? (facet.Ranges.Count > 0 ? FieldOf(facet.Ranges[0]) : AllResults);
        return new FacetPlan(
            name,
            facet.Field is { } field ? fields.CreateReader(new PathReference(field)) : null,
            ranges,
            [
                .. facet
                    .Aggregates.Where(static one => one.Aggregate.Path is not null)
                    .GroupBy(static one =>
                        (Name: one.Alias ?? one.Aggregate.Path!.ToString(), Path: one.Aggregate.Path!)
                    )
                    .Select(group => new FacetNumbers(
                        group.Key.Name,
                        ReaderOfNumbers(group.Key.Path, fields),
                        [.. group.Select(static one => one.Aggregate.Kind).Distinct()]
                    )),
            ],
            new ClauseOptions(facet.Options, "facet", operands),
            facet.Options?.Position ?? -1
        )
        {
            FieldPath = facet.Field,
        };
    }

    /// <summary>
    /// Returns a reader of a field to aggregate. As in RavenDB, a field that the index lacks has no numbers; clients
    /// aggregate the same fields over several indexes.
    /// </summary>
    private static FieldReader ReaderOfNumbers(FieldPath path, FieldResolver fields) =>
        fields is RowFields { Rows: var rows } && !rows.HasField(path)
            ? new FieldReader(new FieldPath([new(path.ToString(), IsEach: false)], path.Position))
            : fields.CreateReader(new PathReference(path));

    private static string FieldOf(Condition range) =>
        range switch
        {
            AndCondition and => FieldOf(and.Conditions[0]),
            BetweenCondition { Field: PathReference path } => path.Path.ToString(),
            ComparisonCondition { Field: PathReference path } => path.Path.ToString(),
            _ => throw new QueryException(
                QueryFault.Invalid,
                "A range of a facet compares a field: price < 100.",
                range.Position
            ),
        };

    /// <summary>Returns the name of a range in the answer: its text, with parameters filled in.</summary>
    private static string TextOf(Condition range, OperandValues operands) =>
        range switch
        {
            AndCondition and => string.Join(" and ", and.Conditions.Select(one => TextOf(one, operands))),
            BetweenCondition between =>
                $"{FieldOf(between)} between {TextOf(between.Low, operands)} and {TextOf(between.High, operands)}",
            ComparisonCondition comparison =>
                $"{FieldOf(comparison)} {SymbolOf(comparison.Operator)} {TextOf(comparison.Value, operands)}",
            _ => FieldOf(range),
        };

    private static string TextOf(Operand operand, OperandValues operands)
    {
        byte[] json = operands.ReadScalar(operand);
        return json[0] == (byte)'"'
            ? $"'{Encoding.UTF8.GetString(operands.ReadText(operand, "facet"))}'"
            : Encoding.UTF8.GetString(json);
    }

    private static string SymbolOf(ComparisonOperator comparison) =>
        comparison switch
        {
            ComparisonOperator.Less => "<",
            ComparisonOperator.LessOrEqual => "<=",
            ComparisonOperator.Greater => ">",
            ComparisonOperator.GreaterOrEqual => ">=",
            ComparisonOperator.NotEqual => "!=",
            _ => "=",
        };
}
