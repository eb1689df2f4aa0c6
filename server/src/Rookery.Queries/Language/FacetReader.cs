using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>Parses <c>facet(…)</c>.</summary>
internal sealed class FacetReader(RqlReader reader, RqlFieldReader fields, ConditionReader conditions)
{
    /// <summary>Parses the arguments of a facet, in brackets.</summary>
    /// <exception cref="QueryException">The arguments are invalid.</exception>
    public SelectedFacet Read()
    {
        int position = reader.Current.Position;
        FieldPath? field = null;
        Operand? options = null;
        Operand? setup = null;
        var ranges = new List<Condition>();
        var aggregates = new List<FacetAggregate>();
        reader.ExpectSymbol("(");
        do
        {
            int start = reader.Current.Position;
            bool isFirst = field is null && ranges.Count == 0;
            if (IsOptions(isFirst && aggregates.Count == 0))
            {
                options = options is null
                    ? OperandReader.Read(reader)
                    : throw new QueryException(QueryFault.Invalid, "A facet has its options once.", start);
                continue;
            }

            var name = fields.ReadName("a field, a range or an aggregate");
            if (isFirst && name.Function is "id")
            {
                setup = ReadSetup();
                break;
            }

            if (fields.TryReadAggregate(name) is { } aggregate)
            {
                aggregates.Add(new FacetAggregate(aggregate, fields.TryReadAlias()));
            }
            else if (name.IsFunction)
            {
                throw fields.UnknownFunction(name);
            }
            else if (isFirst && (reader.Current.IsSymbol(",") || reader.Current.IsSymbol(")")))
            {
                field = name.Path;
            }
            else if (field is null)
            {
                ranges.Add(conditions.ReadRange(new PathReference(name.Path), start));
            }
            else
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    "A facet has one field, or ranges; aggregates and options follow them.",
                    start
                );
            }
        } while (reader.AcceptSymbol(","));
        reader.ExpectSymbol(")");
        return field is not null || ranges.Count > 0 || aggregates.Count > 0 || setup is not null
            ? new SelectedFacet(field, ranges, aggregates, options, setup)
            : throw new QueryException(
                QueryFault.Invalid,
                "A facet needs a field, ranges, aggregates, or the id of a stored facet setup.",
                position
            );
    }

    // A text names a field, unless it comes after the field, or can only be a JSON object.
    private bool IsOptions(bool isFirst) =>
        reader.Current.Kind switch
        {
            RqlTokenKind.Parameter => !isFirst,
            RqlTokenKind.Text => !isFirst || reader.Current.Text.TrimStart().StartsWith('{'),
            _ => false,
        };

    private Operand ReadSetup()
    {
        reader.ExpectSymbol("(");
        var id = OperandReader.Read(reader);
        reader.ExpectSymbol(")");
        return id;
    }
}
