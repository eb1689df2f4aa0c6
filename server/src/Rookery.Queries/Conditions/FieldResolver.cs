using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>Resolves the fields of a query to paths in documents, index rows or rows of groups.</summary>
internal abstract class FieldResolver
{
    /// <summary>Returns the path of a field, from the root of the document or row.</summary>
    /// <exception cref="QueryException">The field does not exist here.</exception>
    public abstract FieldPath Resolve(FieldReference field);

    /// <summary>Returns a reader of the field's values.</summary>
    public FieldReader CreateReader(FieldReference field) => new(Resolve(field));

    /// <summary>Returns the name of a field for errors.</summary>
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

/// <summary>Resolves fields of documents.</summary>
internal sealed class DocumentFields : FieldResolver
{
    internal static readonly FieldPath Id = new(
        [new("@metadata", IsEach: false), new("@id", IsEach: false)],
        Position: 0
    );

    public override FieldPath Resolve(FieldReference field) =>
        field switch
        {
            PathReference path => path.Path,
            IdReference => Id,
            ScoreReference => throw new QueryException(
                QueryFault.Invalid,
                "'score()' is allowed only after 'order by' or 'select'.",
                field.Position
            ),
            _ => throw new QueryException(QueryFault.Invalid, $"'{NameOf(field)}' needs 'group by'.", field.Position),
        };
}
