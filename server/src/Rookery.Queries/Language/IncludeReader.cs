using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>Parses the parts of <c>include</c>.</summary>
/// <param name="reader">The tokens.</param>
/// <param name="fields">Parses paths.</param>
/// <param name="loads">The <c>load</c> clauses of the query.</param>
internal sealed class IncludeReader(RqlReader reader, RqlFieldReader fields, IReadOnlyList<LoadClause> loads)
{
    // The highlights and explanations read so far: an answer has one of each name.
    private readonly HashSet<string> _notes = new(StringComparer.Ordinal);

    /// <summary>Parses one part.</summary>
    /// <exception cref="QueryException">The part is invalid.</exception>
    public IncludeClause Read()
    {
        var start = reader.Current;
        if (start.Kind == RqlTokenKind.Text)
        {
            reader.Take();
            return Documents(start, WithoutAlias(start.Text));
        }

        var name = fields.ReadName("a path to include");
        return name.Function switch
        {
            "" => Documents(start, name.Path.ToString()),
            "timings" => new IncludeClause(
                IncludeKind.Timings,
                Path: null,
                ReadArguments("timings", max: 0),
                start.Position
            ),
            "explanations" => ReadExplanations(start.Position),
            "highlight" => ReadHighlight(start.Position),
            "cmpxchg" => ReadCompareExchange(start.Position),
            "counters" => ReadCounters(start.Position),
            "revisions" => ReadRevisions(start.Position),
            _ => throw fields.UnknownFunction(name),
        };
    }

    private IncludeClause ReadCompareExchange(int position)
    {
        reader.ExpectSymbol("(");
        var start = reader.Current;
        string path;
        if (start.Kind == RqlTokenKind.Text)
        {
            reader.Take();
            path = WithoutAlias(start.Text);
        }
        else
        {
            path = fields.ReadPath().ToString();
        }

        if (FindLoad(start) is { } load)
        {
            throw RefuseLoaded(path, load, start.Position);
        }

        reader.ExpectSymbol(")");
        return new IncludeClause(IncludeKind.CompareExchange, path, [], position);
    }

    private IncludeClause ReadCounters(int position)
    {
        reader.ExpectSymbol("(");
        var names = new List<Operand>();
        string? path = null;
        bool hasPart = !reader.Current.IsSymbol(")");
        var start = reader.Current;
        if (hasPart && OperandReader.TryRead(reader) is { } first)
        {
            names.Add(first);
        }
        else if (hasPart)
        {
            var name = fields.ReadName("a counter's name or a path");
            string written = name.Path.ToString();
            bool isResult = !name.HasAlias && string.Equals(written, fields.Alias, StringComparison.Ordinal);
            path = isResult ? null : written;
            if (FindLoad(start) is { } load)
            {
                throw RefuseLoaded(written, load, start.Position);
            }
        }

        while (hasPart && reader.AcceptSymbol(","))
        {
            names.Add(OperandReader.Read(reader));
        }

        reader.ExpectSymbol(")");
        return new IncludeClause(IncludeKind.Counters, path, names, position);
    }

    // As in RavenDB, each argument is a text or a parameter: a path, or a time.
    private IncludeClause ReadRevisions(int position)
    {
        var arguments = new List<Operand>();
        reader.ExpectSymbol("(");
        do
        {
            arguments.Add(OperandReader.Read(reader));
        } while (reader.AcceptSymbol(","));

        reader.ExpectSymbol(")");
        return new IncludeClause(IncludeKind.Revisions, Path: null, arguments, position);
    }

    private string WithoutAlias(string path) =>
        fields.Alias is { } alias && path.StartsWith(alias + ".", StringComparison.Ordinal)
            ? path[(alias.Length + 1)..]
            : path;

    private IncludeClause Documents(RqlToken start, string path) =>
        new(IncludeKind.Documents, PathOf(start, path), [], start.Position);

    /// <summary>
    /// Returns the path of the ids to include. If the path is the alias of a loaded document, returns the path of its
    /// id. Refuses paths within a loaded document.
    /// </summary>
    private string PathOf(RqlToken start, string path)
    {
        if (FindLoad(start) is not { } load)
        {
            return path;
        }

        if (!string.Equals(path, load.Alias, StringComparison.Ordinal) || IsPathOfLoaded(load.Path))
        {
            throw RefuseLoaded(path, load, start.Position);
        }

        return load.Path.ToString();
    }

    // Finds the clause whose alias is the first name of the path. A name after the alias of 'from' is a field of the
    // queried document.
    private LoadClause? FindLoad(RqlToken start) =>
        loads.FirstOrDefault(load => IsNamed(load, start.Text.Split('.', '[')[0]));

    private static bool IsNamed(LoadClause load, string name) =>
        string.Equals(load.Alias, name, StringComparison.Ordinal);

    private bool IsPathOfLoaded(FieldPath path) =>
        loads.Any(load => IsNamed(load, path.Steps[0].Name) && load.Path.Position < path.Position);

    private static QueryException RefuseLoaded(string path, LoadClause load, int position) =>
        new(
            QueryFault.NotSupported,
            $"'{path}' belongs to the loaded document '{load.Alias}', and in this version 'include' reads ids only "
                + "from results. Select the id, and load that document by another request.",
            position
        );

    private List<Operand> ReadArguments(string function, int max)
    {
        var arguments = new List<Operand>();
        reader.ExpectSymbol("(");
        while (!reader.Current.IsSymbol(")") && (arguments.Count == 0 || reader.AcceptSymbol(",")))
        {
            arguments.Add(OperandReader.Read(reader));
            if (arguments.Count > max)
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'{function}()' takes {(max == 0 ? "nothing" : "one object of options")} between its brackets.",
                    arguments[^1].Position
                );
            }
        }

        reader.ExpectSymbol(")");
        return arguments;
    }

    private IncludeClause ReadExplanations(int position)
    {
        RefuseRepeated("explanations()", position);
        return new IncludeClause(IncludeKind.Explanations, Path: null, ReadArguments("explanations", max: 1), position);
    }

    private void RefuseRepeated(string note, int position)
    {
        if (!_notes.Add(note))
        {
            throw new QueryException(QueryFault.Invalid, $"'{note}' is included twice: include it once.", position);
        }
    }

    private IncludeClause ReadHighlight(int position)
    {
        reader.ExpectSymbol("(");
        var start = reader.Current;
        string path = fields.ReadPath().ToString();
        if (FindLoad(start) is { } load)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'highlight' of '{path}' is not supported by this version: 'highlight' marks words of results only, "
                    + $"and '{load.Alias}' is a loaded document.",
                start.Position
            );
        }

        RefuseRepeated($"highlight({path})", position);
        reader.ExpectSymbol(",");
        var length = OperandReader.ReadNumber(reader);
        reader.ExpectSymbol(",");
        var fragments = OperandReader.ReadNumber(reader);
        Operand[] options = reader.AcceptSymbol(",") ? [OperandReader.Read(reader)] : [];
        reader.ExpectSymbol(")");
        return new IncludeClause(IncludeKind.Highlight, path, [length, fragments, .. options], position);
    }
}
