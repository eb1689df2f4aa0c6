using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>Says where the fields of a query stand: in documents, or in the rows of groups.</summary>
internal abstract class FieldResolver
{
    /// <summary>The path of a field, from the root of what is read.</summary>
    /// <exception cref="QueryException">There is no such field here.</exception>
    public abstract FieldPath Resolve(FieldReference field);

    /// <summary>Reads a field's values.</summary>
    public FieldReader Reader(FieldReference field) => new(Resolve(field));

    /// <summary>What a refusal calls a field.</summary>
    protected static string NameOf(FieldReference field) =>
        field switch
        {
            PathReference path => path.Path.ToString(),
            IdReference => "id()",
            GroupKeyReference => "key()",
            ScoreReference => "score()",
            AggregateReference { Kind: AggregateKind.Count } => "count()",
            AggregateReference aggregate => $"{AggregateName(aggregate.Kind)}({aggregate.Path})",
            _ => "this field",
        };

    private static string AggregateName(AggregateKind kind) =>
        kind switch
        {
            AggregateKind.Sum => "sum",
            AggregateKind.Min => "min",
            AggregateKind.Max => "max",
            _ => "avg",
        };
}

/// <summary>Fields of documents.</summary>
internal sealed class DocumentFields : FieldResolver
{
    internal static readonly FieldPath Id = new([new("@metadata", false), new("@id", false)], 0);

    public override FieldPath Resolve(FieldReference field) =>
        field switch
        {
            PathReference path => path.Path,
            IdReference => Id,
            ScoreReference => throw new QueryException(
                QueryFault.Invalid,
                "'score()' belongs behind 'order by' or 'select'.",
                field.Position
            ),
            _ => throw new QueryException(QueryFault.Invalid, $"'{NameOf(field)}' needs 'group by'.", field.Position),
        };
}
