using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>Parses paths, and functions that are allowed instead of a field.</summary>
internal sealed class RqlFieldReader(RqlReader reader)
{
    /// <summary>The functions that the query declares.</summary>
    public IReadOnlyList<DeclaredFunction> Functions { get; init; } = [];

    /// <summary>Whether conditions may call <see cref="Functions"/>.</summary>
    public bool AllowsCalls { get; init; }

    /// <summary>The alias of <c>from</c>, which paths may begin with; null if there is none.</summary>
    public string? Alias { get; set; }

    /// <summary>
    /// Receives the paths of two or more steps that do not begin with <see cref="Alias"/>; null if not needed.
    /// </summary>
    public List<FieldPath>? CollectedPaths { get; set; }

    /// <summary>
    /// The unquoted paths read so far that have two or more steps and do not begin with <see cref="Alias"/>.
    /// </summary>
    public List<FieldPath> Unaliased { get; } = [];

    /// <summary>Parses a path.</summary>
    /// <exception cref="QueryException">The next token does not begin a path.</exception>
    public FieldPath ReadPath(string expected = "a field")
    {
        var name = ReadName(expected);
        return reader.Current.IsSymbol("(") ? throw UnknownFunction(name) : name.Path;
    }

    /// <summary>Parses a path or a function that returns a value.</summary>
    /// <exception cref="QueryException">The next token does not begin a path.</exception>
    public FieldReference ReadReference(string expected = "a field")
    {
        var name = ReadName(expected);
        return TryReadFunction(name) ?? throw UnknownFunction(name);
    }

    /// <summary>
    /// Parses a path, or the name of a function. After a function's name, the next token is the opening bracket.
    /// </summary>
    /// <exception cref="QueryException">The next token does not begin a path.</exception>
    public FieldName ReadName(string expected)
    {
        int position = reader.Current.Position;
        var steps = new List<PathStep>();
        bool isPlain = true;
        do
        {
            isPlain &= reader.Current.Kind == RqlTokenKind.Word;
            AddSteps(steps, expected);
        } while (reader.AcceptSymbol("."));

        bool isFunction = isPlain && reader.Current.IsSymbol("(") && !steps.Exists(static step => step.IsEach);
        if (
            !isFunction
            && steps.Count > 1
            && !steps[0].IsEach
            && string.Equals(steps[0].Name, Alias, StringComparison.Ordinal)
        )
        {
            steps.RemoveAt(0);
            return new FieldName(new FieldPath(steps, position), isFunction) { HasAlias = true };
        }

        var path = new FieldPath(steps, position);
        if (!isFunction && steps.Count > 1)
        {
            CollectedPaths?.Add(path);
            if (isPlain)
            {
                Unaliased.Add(path);
            }
        }

        return new FieldName(path, isFunction);
    }

    /// <summary>
    /// Returns the field that a path names, or parses the arguments of a field function. For any other function,
    /// returns null without reading the arguments.
    /// </summary>
    /// <exception cref="QueryException">The arguments are invalid.</exception>
    public FieldReference? TryReadFunction(FieldName name)
    {
        if (!name.IsFunction)
        {
            return new PathReference(name.Path);
        }

        int position = name.Path.Position;
        return name.Function switch
        {
            "id" => ReadId(position),
            "key" => WithoutArguments(new GroupKeyReference(position)),
            "score" => WithoutArguments(new ScoreReference(position)),
            _ => TryReadAggregate(name),
        };
    }

    /// <summary>
    /// Parses the arguments of an aggregate. For any other function, returns null without reading the arguments.
    /// </summary>
    /// <exception cref="QueryException">The arguments are invalid.</exception>
    public AggregateReference? TryReadAggregate(FieldName name)
    {
        AggregateKind? kind = name.Function switch
        {
            "count" => AggregateKind.Count,
            "sum" => AggregateKind.Sum,
            "min" => AggregateKind.Min,
            "max" => AggregateKind.Max,
            "avg" or "average" => AggregateKind.Average,
            _ => null,
        };
        if (kind is not { } known)
        {
            return null;
        }

        reader.ExpectSymbol("(");
        var path = known == AggregateKind.Count ? null : ReadPath();
        reader.ExpectSymbol(")");
        return new AggregateReference(known, path, name.Path.Position);
    }

    /// <summary>Returns the exception for a function that is not allowed here.</summary>
    public QueryException UnknownFunction(FieldName name)
    {
        string text = name.Path.ToString();
        string first = name.Path.Steps[0].Name;
        UnsupportedParts.RefuseFunction(first, name.Path.Position, text[first.Length..]);
        if (Functions.Any(function => string.Equals(function.Name, text, StringComparison.Ordinal)))
        {
            return new QueryException(
                QueryFault.NotSupported,
                $"'{text}' is a declared function, which only 'select' may call in this version.",
                name.Path.Position
            );
        }

        return new QueryException(QueryFault.Invalid, $"No function '{text}' can stand here.", name.Path.Position);
    }

    /// <summary>Parses <c>as name</c>; returns null if there is none.</summary>
    /// <exception cref="QueryException">No name follows <c>as</c>.</exception>
    public string? TryReadAlias() => reader.Accept("as") ? reader.TakeRestOfName(reader.TakeName("a name")) : null;

    private T WithoutArguments<T>(T function)
    {
        reader.ExpectSymbol("(");
        reader.ExpectSymbol(")");
        return function;
    }

    private IdReference ReadId(int position)
    {
        reader.ExpectSymbol("(");
        if (reader.Current.Kind == RqlTokenKind.Word)
        {
            var alias = reader.Take();
            if (!string.Equals(alias.Text, Alias, StringComparison.Ordinal))
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'{alias.Text}' is not the alias of 'from'; id() takes that alias or nothing.",
                    alias.Position
                );
            }
        }

        reader.ExpectSymbol(")");
        return new IdReference(position);
    }

    /// <summary>
    /// Parses one step, or all steps of a quoted path: <c>'address.street name'</c> has two, as RavenDB's clients write
    /// it.
    /// </summary>
    private void AddSteps(List<PathStep> steps, string expected)
    {
        int position = reader.Current.Position;
        bool isQuoted = reader.Current.Kind == RqlTokenKind.Text;
        string name = reader.TakeName(expected);
        foreach (string step in isQuoted ? name.Split('.') : [name])
        {
            bool isEach = isQuoted && step.EndsWith("[]", StringComparison.Ordinal);
            steps.Add(new PathStep(isEach ? step[..^2] : step, isEach));
            if (steps[^1].Name.Length == 0)
            {
                throw new QueryException(QueryFault.Invalid, "The name of a field cannot be empty.", position);
            }
        }

        while (reader.Current.IsSymbol("["))
        {
            var open = reader.Take();
            if (reader.Current.Kind == RqlTokenKind.Number || steps[^1].IsEach)
            {
                throw UnsupportedParts.Refusal(steps[^1].IsEach ? "[][]" : $"[{reader.Current.Text}]", open.Position);
            }

            reader.ExpectSymbol("]");
            steps[^1] = steps[^1] with { IsEach = true };
        }
    }
}

/// <summary>A parsed path, or the name of a function.</summary>
/// <param name="Path">The path.</param>
/// <param name="IsFunction">Whether arguments follow.</param>
internal readonly record struct FieldName(FieldPath Path, bool IsFunction)
{
    /// <summary>Whether the path was written after the alias of <c>from</c>.</summary>
    public bool HasAlias { get; init; }

    /// <summary>The function's name in lower case; empty for a path.</summary>
    public string Function { get; } = IsFunction ? Path.ToString().ToLowerInvariant() : "";
}
