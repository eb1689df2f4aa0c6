namespace Rookery.Queries.Language;

/// <summary>Parses <c>select</c>.</summary>
/// <param name="reader">The tokens.</param>
/// <param name="fields">Parses fields.</param>
/// <param name="facets">Parses facets.</param>
/// <param name="functions">The declared functions.</param>
internal sealed class SelectionReader(
    RqlReader reader,
    RqlFieldReader fields,
    FacetReader facets,
    IReadOnlyList<DeclaredFunction> functions
)
{
    /// <summary>Parses the part after <c>select</c>.</summary>
    /// <exception cref="QueryException">The selection is invalid.</exception>
    public Selection Read()
    {
        var start = reader.Current;
        bool isDistinct = reader.Accept("distinct");
        if (reader.AcceptSymbol("*"))
        {
            return new FieldSelection([], isDistinct);
        }

        if (reader.Current.IsSymbol("{"))
        {
            return isDistinct
                ? throw UnsupportedParts.Refusal("select distinct { … }", start.Position)
                : new ScriptSelection(reader.TakeScript());
        }

        var items = new List<SelectedField>();
        do
        {
            var item = ReadItem(items.Count == 0 ? "a field, a value or '{'" : "a field or a value");
            if (item.Call is { } call)
            {
                return items.Count == 0 && !isDistinct && !reader.Current.IsSymbol(",")
                    ? call
                    : throw UnsupportedParts.Refusal(
                        $"{call.Function}() beside other parts of a selection",
                        call.Position
                    );
            }

            items.Add(item.Field!);
        } while (reader.AcceptSymbol(","));
        RefuseMixed(items);
        return new FieldSelection(items, isDistinct);
    }

    private (SelectedField? Field, CallSelection? Call) ReadItem(string expected)
    {
        int position = reader.Current.Position;
        SelectedSource? source = null;
        if (reader.Current.Kind != RqlTokenKind.Text && OperandReader.TryRead(reader) is { } operand)
        {
            source = new SelectedOperand(operand);
        }
        else
        {
            var name = fields.ReadName(expected);
            if (
                name.IsFunction
                && functions.Any(declared =>
                    string.Equals(declared.Name, name.Path.ToString(), StringComparison.Ordinal)
                )
            )
            {
                return (null, new CallSelection(name.Path.ToString(), ReadArguments(), position));
            }

            source = name.Function switch
            {
                "facet" => facets.Read(),
                "suggest" => ReadSuggestion(),
                "counter" => ReadCounter(),
                _ => new SelectedReference(fields.TryReadFunction(name) ?? throw fields.UnknownFunction(name)),
            };
            RefuseWholeDocument(name, position);
        }

        return (new SelectedField(source, fields.TryReadAlias(), position), null);
    }

    private List<CallArgument> ReadArguments()
    {
        var arguments = new List<CallArgument>();
        reader.ExpectSymbol("(");
        while (!reader.Current.IsSymbol(")") && (arguments.Count == 0 || reader.AcceptSymbol(",")))
        {
            int start = reader.Current.Position;
            var value = OperandReader.TryRead(reader);
            if (value is null)
            {
                fields.ReadPath("an alias, a field or a value");
            }

            arguments.Add(new CallArgument(new ScriptText(reader.TextFrom(start), start), value));
        }

        reader.ExpectSymbol(")");
        return arguments;
    }

    private SelectedCounter ReadCounter()
    {
        reader.ExpectSymbol("(");
        string? of = null;
        if (OperandReader.TryRead(reader) is not { } name)
        {
            of = fields.ReadPath("an alias or the name of a counter").ToString();
            reader.ExpectSymbol(",");
            name = OperandReader.Read(reader);
        }

        reader.ExpectSymbol(")");
        return new SelectedCounter(string.Equals(of, fields.Alias, StringComparison.Ordinal) ? null : of, name);
    }

    private SelectedSuggestion ReadSuggestion()
    {
        reader.ExpectSymbol("(");
        var field = fields.ReadPath();
        reader.ExpectSymbol(",");
        var term = OperandReader.Read(reader);
        var options = reader.AcceptSymbol(",") ? OperandReader.Read(reader) : null;
        reader.ExpectSymbol(")");
        return new SelectedSuggestion(field, term, options);
    }

    private void RefuseWholeDocument(FieldName name, int position)
    {
        if (
            name is { IsFunction: false, HasAlias: false }
            && name.Path.Steps.Count == 1
            && string.Equals(name.Path.Steps[0].Name, fields.Alias, StringComparison.Ordinal)
        )
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'select {fields.Alias}', the whole document, is not supported by this version: leave 'select' out.",
                position
            );
        }
    }

    private static void RefuseMixed(List<SelectedField> items)
    {
        var other = items.Find(item => Kind(item) != Kind(items[0]));
        if (other is not null)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "facet() and suggest() cannot stand beside other parts of a selection.",
                other.Position
            );
        }
    }

    // Returns a number for the kind of an item. Only items with equal numbers can be selected together.
    private static int Kind(SelectedField item) =>
        item.Source switch
        {
            SelectedFacet => 1,
            SelectedSuggestion => 2,
            _ => 0,
        };
}
