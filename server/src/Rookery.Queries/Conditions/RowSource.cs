using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Conditions;

/// <summary>
/// A static index that a query names. The query's conditions refer to the fields of the index's rows.
/// </summary>
public sealed class RowSource
{
    private readonly IReadOnlyList<MappedField> _mapped;
    private readonly NamedFields? _named;
    private readonly int _namesVersion;

    internal RowSource(
        string indexName,
        long number,
        StaticIndexDefinition definition,
        IReadOnlyList<MappedField> mapped,
        NamedFields? named = null
    )
    {
        (IndexName, DefinitionNumber, Definition, _mapped) = (indexName, number, definition, mapped);
        (_named, _namesVersion) = (named, named?.Version ?? 0);
    }

    /// <summary>The name of the index, in the case of its definition.</summary>
    public string IndexName { get; }

    /// <summary>
    /// Whether the index has a reduce, so that its rows are the results. Otherwise each row belongs to a document.
    /// </summary>
    public bool IsReduced => Definition.Reduce is not null;

    /// <summary>The number of the definition.</summary>
    public long DefinitionNumber { get; }

    /// <summary>The full-text fields.</summary>
    public IReadOnlyList<string> WordFields =>
        [.. _mapped.Where(static one => one.Analyzer is not null).Select(static one => one.Path[0])];

    internal StaticIndexDefinition Definition { get; }

    /// <summary>Creates the source for a definition that this node does not run yet.</summary>
    /// <param name="indexName">The name of the index.</param>
    /// <param name="number">The number of the definition.</param>
    /// <param name="definition">The definition.</param>
    public static RowSource Of(string indexName, long number, StaticIndexDefinition definition) =>
        new(indexName, number, definition, StaticRowWriter.FieldsOf(definition));

    /// <summary>
    /// Returns whether another source has the same definition, and the same fields among those that documents name.
    /// </summary>
    public bool IsSameDefinition(RowSource other) =>
        DefinitionNumber == other.DefinitionNumber && _namesVersion == other._namesVersion;

    /// <summary>Returns the analyzer of a field.</summary>
    /// <exception cref="QueryException">The field is not a full-text field.</exception>
    public Analyzer AnalyzerOf(FieldReference field)
    {
        string name = NameOf(field);
        if (IsNamedByDocuments(name) && _named?.UsesOf(name)?.HasFlag(NamedFieldUses.Words) is not false)
        {
            return Definition.NamedAnalyzer;
        }

        return _mapped.FirstOrDefault(one => string.Equals(one.Path[0], name, StringComparison.Ordinal))?.Analyzer
            ?? throw new QueryException(
                QueryFault.Invalid,
                $"The index '{IndexName}' does not hold the words of '{name}': define the field with "
                    + $"\"Indexing\":\"Search\".",
                field.Position
            );
    }

    /// <summary>Returns whether the index has a field, searchable or only stored.</summary>
    internal bool HasField(FieldPath path) => Definition.NamesFields || IsDefined(NameOf(path));

    /// <summary>
    /// Returns whether a field is a full-text field. The words of other fields may be indexed, too, for suggestions. As
    /// in RavenDB, the suggestions for such a field are whole values.
    /// </summary>
    internal bool IsFullText(FieldPath path) =>
        Definition.Fields.Any(field =>
            field.Indexing == FieldIndexing.Search && string.Equals(field.Name, NameOf(path), StringComparison.Ordinal)
        ) || (IsNamedByDocuments(NameOf(path)) && _named?.UsesOf(NameOf(path))?.HasFlag(NamedFieldUses.Words) == true);

    /// <summary>Returns whether the index stores the values of a field.</summary>
    internal bool Stores(string name) =>
        Definition.Fields.Any(field =>
            (field.IsStored || Definition.IsOfCounters) && string.Equals(field.Name, name, StringComparison.Ordinal)
        ) || (IsNamedByDocuments(name) && _named?.UsesOf(name)?.HasFlag(NamedFieldUses.Stored) == true);

    private bool IsDefined(string name) =>
        Definition.Fields.Any(field => string.Equals(field.Name, name, StringComparison.Ordinal));

    // Any undefined field counts. A field that no document names is empty, as in RavenDB.
    private bool IsNamedByDocuments(string name) => Definition.NamesFields && !IsDefined(name);

    /// <summary>Returns the name of a field that can be queried.</summary>
    /// <exception cref="QueryException">The field does not exist or is only stored.</exception>
    internal string NameOf(FieldReference field)
    {
        string name = field is PathReference { Path: var path } ? NameOf(path) : "";
        var known = Definition.Fields.FirstOrDefault(one => string.Equals(one.Name, name, StringComparison.Ordinal));
        if (known is { Indexing: not FieldIndexing.No } || (name.Length > 0 && IsNamedByDocuments(name)))
        {
            return name;
        }

        if (known is not null)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The index '{IndexName}' only stores '{name}', so it cannot be searched or sorted.",
                field.Position
            );
        }

        throw new QueryException(
            QueryFault.Invalid,
            $"The index '{IndexName}' has no field '{name}'. It has "
                + $"{string.Join(", ", Definition.Fields.Select(static one => one.Name))}.",
            field.Position
        );
    }

    private static string NameOf(FieldPath path) => path.ToString().Replace("[]", "", StringComparison.Ordinal);
}

/// <summary>Resolves fields of index rows for conditions and orders.</summary>
/// <param name="rows">The index.</param>
internal sealed class RowFields(RowSource rows) : FieldResolver
{
    /// <summary>The index.</summary>
    public RowSource Rows => rows;

    public override FieldPath Resolve(FieldReference field) =>
        field switch
        {
            PathReference => new FieldPath([new(rows.NameOf(field), IsEach: false)], field.Position),
            IdReference when !rows.IsReduced => DocumentFields.Id,
            ScoreReference => throw new QueryException(
                QueryFault.Invalid,
                "'score()' is allowed only after 'order by' or 'select'.",
                field.Position
            ),
            IdReference => throw new QueryException(
                QueryFault.Invalid,
                $"The results of '{rows.IndexName}' are reduced rows, which have no id.",
                field.Position
            ),
            _ => throw new QueryException(
                QueryFault.Invalid,
                $"'{NameOf(field)}' needs 'group by', which groups a collection.",
                field.Position
            ),
        };
}

/// <summary>
/// Resolves fields for a selection: stored fields and fields of reduced rows come from the index, all others from the
/// document.
/// </summary>
/// <param name="rows">The index.</param>
/// <param name="behavior">Where fields are read from.</param>
internal sealed class SelectedFields(RowSource rows, ProjectionBehavior behavior) : FieldResolver
{
    private readonly bool _readsOnlyDocuments =
        behavior is ProjectionBehavior.FromDocument or ProjectionBehavior.FromDocumentOrThrow;

    /// <summary>The index.</summary>
    public RowSource Rows => rows;

    public override FieldPath Resolve(FieldReference field) =>
        field switch
        {
            // Clients select the types of nested objects from "@metadata" in every projection. A row has no metadata,
            // so the value is null.
            PathReference { Path: { Steps: [{ Name: "@metadata" }, ..] } path } => path,
            // A reduced row has no such field, so NameOf throws the error.
            PathReference { Path: var path }
                when rows.IsReduced
                    && rows.Definition.Fields.All(one =>
                        !string.Equals(one.Name, path.Steps[0].Name, StringComparison.Ordinal)
                    ) => new FieldPath([new(rows.NameOf(field), IsEach: false)], field.Position),
            PathReference { Path: var path } => IsStored(path)
                ? new FieldPath([new(path.ToString(), IsEach: false)], field.Position)
                : path,
            _ => new RowFields(rows).Resolve(field),
        };

    /// <summary>Returns whether a selected field is read from the row, not from the document.</summary>
    public bool ReadsFromRow(SelectedField item) =>
        rows.IsReduced
        || (item.Source is SelectedReference { Field: PathReference { Path: var path } } && IsStored(path));

    private bool IsStored(FieldPath path) => !_readsOnlyDocuments && rows.Stores(path.ToString());
}
