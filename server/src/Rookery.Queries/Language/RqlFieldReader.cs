using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>Reads paths, and the functions that stand where a field may.</summary>
internal sealed class RqlFieldReader(RqlReader reader)
{
    /// <summary>The alias of <c>from</c>, which paths may begin with, or null.</summary>
    public string? Alias { get; set; }

    /// <summary>
    /// Where paths of several steps are noted that do not begin with <see cref="Alias"/>; null where they need not be.
    /// </summary>
    public List<FieldPath>? Noted { get; set; }

    /// <summary>Paths of several names without quotes that do not begin with <see cref="Alias"/>.</summary>
    public List<FieldPath> Unaliased { get; } = [];

    /// <summary>A path.</summary>
    /// <exception cref="QueryException">None is in view.</exception>
    public FieldPath ReadPath(string wanted = "a field")
    {
        var name = ReadName(wanted);
        return reader.Current.IsSymbol("(") ? throw UnknownFunction(name) : name.Path;
    }

    /// <summary>A path or a function that gives a value.</summary>
    /// <exception cref="QueryException">None is in view.</exception>
    public FieldReference ReadReference(string wanted = "a field")
    {
        var name = ReadName(wanted);
        return TryReadFunction(name) ?? throw UnknownFunction(name);
    }

    /// <summary>A path, which may be the name of a function as well: its arguments are in view then.</summary>
    /// <exception cref="QueryException">None is in view.</exception>
    public FieldName ReadName(string wanted)
    {
        int position = reader.Current.Position;
        var steps = new List<PathStep>();
        bool isPlain = true;
        do
        {
            isPlain &= reader.Current.Kind == RqlTokenKind.Word;
            AddSteps(steps, wanted);
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
            return new FieldName(new FieldPath(steps, position), isFunction);
        }

        var path = new FieldPath(steps, position);
        if (!isFunction && steps.Count > 1)
        {
            Noted?.Add(path);
            if (isPlain)
            {
                Unaliased.Add(path);
            }
        }

        return new FieldName(path, isFunction);
    }

    /// <summary>
    /// The field of a name, or the function of it with its arguments; null when it is another function, whose arguments
    /// are in view.
    /// </summary>
    /// <exception cref="QueryException">Its arguments are none.</exception>
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
    /// An aggregate with its arguments; null when it is another function, whose arguments are in view.
    /// </summary>
    /// <exception cref="QueryException">Its arguments are none.</exception>
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

    /// <summary>What to throw for a function that cannot stand where it does.</summary>
    public static QueryException UnknownFunction(FieldName name)
    {
        string text = name.Path.ToString();
        string first = name.Path.Steps[0].Name;
        UnsupportedParts.RefuseFunction(first, name.Path.Position, text[first.Length..]);
        return new QueryException(QueryFault.Invalid, $"No function '{text}' can stand here.", name.Path.Position);
    }

    /// <summary><c>as name</c>, or null.</summary>
    /// <exception cref="QueryException">No name follows.</exception>
    public string? TryReadAlias()
    {
        if (!reader.Accept("as"))
        {
            return null;
        }

        string alias = reader.TakeName("a name");
        while (reader.AcceptSymbol("."))
        {
            alias += "." + reader.TakeName("a name");
        }

        return alias;
    }

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
    /// One step, or all that stand in quotes: <c>'address.street name'</c> are two, as RavenDB's clients write them.
    /// </summary>
    private void AddSteps(List<PathStep> steps, string wanted)
    {
        int position = reader.Current.Position;
        bool isQuoted = reader.Current.Kind == RqlTokenKind.Text;
        string name = reader.TakeName(wanted);
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

/// <summary>A path that was read, or the name of a function.</summary>
/// <param name="Path">The path.</param>
/// <param name="IsFunction">Whether arguments follow.</param>
internal readonly record struct FieldName(FieldPath Path, bool IsFunction)
{
    /// <summary>The function's name in small letters; empty for a path.</summary>
    public string Function { get; } = IsFunction ? Path.ToString().ToLowerInvariant() : "";
}
