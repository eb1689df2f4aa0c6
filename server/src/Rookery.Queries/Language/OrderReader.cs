namespace Rookery.Queries.Language;

/// <summary>Parses the keys of <c>order by</c>.</summary>
internal sealed class OrderReader(RqlReader reader, RqlFieldReader fields)
{
    /// <summary>Parses one key.</summary>
    /// <exception cref="QueryException">The key is invalid.</exception>
    public OrderKey Read()
    {
        var key = ReadKey();
        int position = reader.Current.Position;
        if (!reader.Accept("nulls"))
        {
            return key;
        }

        return key.Field is null
            ? throw new QueryException(
                QueryFault.Invalid,
                "'nulls first' and 'nulls last' place the nulls of a field; random() and score() are never null.",
                position
            )
            : key with
            {
                Nulls = ReadNullPlace(),
            };
    }

    private OrderKey ReadKey()
    {
        var name = fields.ReadName("a field");
        int position = name.Path.Position;
        if (name.Function is "random")
        {
            var seed = ReadSeed();
            return new OrderKey(
                Field: null,
                OrderKind.Random,
                ReadDirection(isDescendingByDefault: false),
                seed,
                position
            );
        }

        var field = fields.TryReadFunction(name) ?? throw fields.UnknownFunction(name);
        return field is ScoreReference
            ? new OrderKey(
                Field: null,
                OrderKind.Score,
                ReadDirection(isDescendingByDefault: true),
                Seed: null,
                position
            )
            : new OrderKey(field, ReadKind(), ReadDirection(isDescendingByDefault: false), Seed: null, position);
    }

    private Operand? ReadSeed()
    {
        reader.ExpectSymbol("(");
        var seed = OperandReader.TryRead(reader);
        reader.ExpectSymbol(")");
        return seed;
    }

    private OrderKind ReadKind()
    {
        if (!reader.Accept("as"))
        {
            return OrderKind.Natural;
        }

        var kind =
            reader.Current.Kind != RqlTokenKind.Word
                ? OrderKind.Natural
                : reader.Current.Text.ToLowerInvariant() switch
                {
                    "string" => OrderKind.Text,
                    "long" => OrderKind.Long,
                    "double" => OrderKind.Double,
                    "alphanumeric" => OrderKind.AlphaNumeric,
                    _ => OrderKind.Natural,
                };
        if (kind == OrderKind.Natural)
        {
            throw reader.Unexpected("'string', 'long', 'double' or 'alphaNumeric'");
        }

        reader.Take();
        return kind;
    }

    private NullPlace ReadNullPlace()
    {
        if (reader.Accept("first"))
        {
            return NullPlace.First;
        }

        return reader.Accept("last") ? NullPlace.Last : throw reader.Unexpected("'first' or 'last'");
    }

    private bool ReadDirection(bool isDescendingByDefault)
    {
        if (reader.Accept("desc") || reader.Accept("descending"))
        {
            return true;
        }

        bool isAscending = reader.Accept("asc") || reader.Accept("ascending");
        return !isAscending && isDescendingByDefault;
    }
}
