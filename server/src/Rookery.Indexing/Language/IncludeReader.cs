namespace Rookery.Indexing.Language;

/// <summary>Reads the parts of <c>include</c>.</summary>
internal sealed class IncludeReader(RqlReader reader, RqlFieldReader fields)
{
    /// <summary>One part.</summary>
    /// <exception cref="QueryException">It is none.</exception>
    public IncludeClause Read()
    {
        var start = reader.Current;
        if (start.Kind == RqlTokenKind.Text)
        {
            reader.Take();
            return new IncludeClause(IncludeKind.Documents, WithoutAlias(start.Text), [], start.Position);
        }

        var name = fields.ReadName("a path to include");
        return name.Function switch
        {
            "" => new IncludeClause(IncludeKind.Documents, name.Path.ToString(), [], start.Position),
            "timings" => new IncludeClause(IncludeKind.Timings, null, ReadArguments(), start.Position),
            "explanations" => new IncludeClause(IncludeKind.Explanations, null, ReadArguments(), start.Position),
            "highlight" => ReadHighlight(start.Position),
            _ => throw RqlFieldReader.UnknownFunction(name),
        };
    }

    private string WithoutAlias(string path) =>
        fields.Alias is { } alias && path.StartsWith(alias + ".", StringComparison.Ordinal) ? path[(alias.Length + 1)..] : path;

    private List<Operand> ReadArguments()
    {
        var arguments = new List<Operand>();
        reader.ExpectSymbol("(");
        while (!reader.Current.IsSymbol(")") && (arguments.Count == 0 || reader.AcceptSymbol(",")))
        {
            arguments.Add(OperandReader.Read(reader));
        }

        reader.ExpectSymbol(")");
        return arguments;
    }

    private IncludeClause ReadHighlight(int position)
    {
        reader.ExpectSymbol("(");
        string path = fields.ReadPath().ToString();
        reader.ExpectSymbol(",");
        var length = OperandReader.ReadNumber(reader);
        reader.ExpectSymbol(",");
        var fragments = OperandReader.ReadNumber(reader);
        Operand[] options = reader.AcceptSymbol(",") ? [OperandReader.Read(reader)] : [];
        reader.ExpectSymbol(")");
        return new IncludeClause(IncludeKind.Highlight, path, [length, fragments, .. options], position);
    }
}
