using System.Text;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Summaries;

/// <summary>In which order a facet's values stand.</summary>
internal enum FacetOrder
{
    ValueAsc,
    ValueDesc,
    CountAsc,
    CountDesc,
}

/// <summary>Numbers that are computed of one field in each bucket: RavenDB gives those of one field together.</summary>
/// <param name="Name">The field's path, or what <c>as</c> names it.</param>
/// <param name="Reader">Where the numbers stand.</param>
/// <param name="Kinds">What is computed.</param>
internal sealed record FacetNumbers(string Name, FieldReader Reader, AggregateKind[] Kinds);

/// <summary>A facet, ready to be computed.</summary>
internal sealed class FacetPlan
{
    /// <summary>The name of a facet that has neither field nor ranges, and of its only bucket.</summary>
    public const string AllResults = "@AllResults";

    private FacetPlan(
        string name,
        FieldReader? field,
        (string Text, Predicate Condition)[] ranges,
        FacetNumbers[] numbers,
        ClauseOptions options
    )
    {
        Name = name;
        Field = field;
        Ranges = ranges;
        Numbers = numbers;
        Order = options.Word("TermSortMode", FacetOrder.ValueAsc);
        Start = options.Count("Start", 0);
        PageSize = options.Count("PageSize", int.MaxValue);
        NamesRemaining = options.Flag("IncludeRemainingTerms");
        options.RefuseOthers();
    }

    /// <summary>What the answer calls it.</summary>
    public string Name { get; }

    /// <summary>By whose values; null when there are ranges.</summary>
    public FieldReader? Field { get; }

    /// <summary>One bucket each.</summary>
    public (string Text, Predicate Condition)[] Ranges { get; }

    /// <summary>What is computed of each bucket.</summary>
    public FacetNumbers[] Numbers { get; }

    /// <summary>In which order values stand.</summary>
    public FacetOrder Order { get; }

    /// <summary>Values to pass over.</summary>
    public long Start { get; }

    /// <summary>Values to give at most.</summary>
    public long PageSize { get; }

    /// <summary>Whether values that are not given are named.</summary>
    public bool NamesRemaining { get; }

    /// <summary>Makes a facet ready.</summary>
    /// <exception cref="QueryException">It is wrong.</exception>
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
                "'facet(id(…))' is not supported here: a stored set-up has to be read first.",
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
            facet.Field is { } field ? fields.Reader(new PathReference(field)) : null,
            ranges,
            [
                .. facet
                    .Aggregates.Where(static one => one.Aggregate.Path is not null)
                    .GroupBy(static one => (one.Alias ?? one.Aggregate.Path!.ToString(), one.Aggregate.Path!))
                    .Select(group => new FacetNumbers(
                        group.Key.Item1,
                        fields.Reader(new PathReference(group.Key.Item2)),
                        [.. group.Select(static one => one.Aggregate.Kind).Distinct()]
                    )),
            ],
            new ClauseOptions(facet.Options, "facet", operands)
        );
    }

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

    /// <summary>A range as the answer names it: as it was written, parameters filled in.</summary>
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
        byte[] json = operands.Scalar(operand);
        return json[0] == (byte)'"'
            ? $"'{Encoding.UTF8.GetString(operands.Text(operand, "facet"))}'"
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
