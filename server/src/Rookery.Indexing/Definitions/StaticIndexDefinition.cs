using System.Buffers;
using System.Text.Json;
using Rookery.Documents.Ids;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Scripting.Syntax;
using Rookery.Search.Analysis;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The definition of an index that a user wrote: the texts of its maps and its reduce, and the options of its fields.
/// The constructor compiles the texts. Equal definitions have equal JSON.
/// </summary>
public sealed class StaticIndexDefinition
{
    internal const string TypeName = "Static";

    // Part of the stored format; independent of property names.
    private const string MapsMember = "Maps";
    private const string ReduceMember = "Reduce";
    private const string FieldsMember = "Fields";
    private const string ConfigurationMember = "Configuration";
    private const string SourcesMember = "AdditionalSources";

    private readonly AdditionalSources _sources;

    internal StaticIndexDefinition(
        IEnumerable<string> maps,
        string? reduce,
        IEnumerable<StaticIndexField> options,
        IEnumerable<KeyValuePair<string, string>> configuration,
        IReadOnlyList<KeyValuePair<string, string>>? sources = null
    )
    {
        Maps = [.. maps.Select(Normalise).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];
        Reduce = reduce is null ? null : Normalise(reduce);
        Options = [.. options.OrderBy(static field => field.Name, StringComparer.Ordinal)];
        Configuration = configuration
            .OrderBy(static setting => setting.Key, StringComparer.Ordinal)
            .ToDictionary(StringComparer.Ordinal);
        if (Maps.Count == 0)
        {
            throw new IndexDefinitionException("An index needs a map.");
        }

        _sources = CompileSources(sources ?? [], Maps);
        CompiledMaps = [.. Maps.Select(map => Compile(map, "map", text => IndexScript.CompileMap(text, _sources)))];
        if (CompiledMaps.Any(map => map.Source.IsOfCounters != IsOfCounters))
        {
            throw new IndexDefinitionException(
                "The maps of an index read either documents or counters, not both. Use two indexes."
            );
        }

        CompiledReduce = Reduce is null
            ? null
            : Compile(Reduce, "reduce", text => IndexScript.CompileReduce(text, _sources));
        Fields = MakeFields();
        Factors = MakeFactors();
        foreach (var field in Fields.Where(static field => field.Analyzer is not null))
        {
            CheckAnalyzer(field);
        }
    }

    /// <summary>The texts of the maps, ordered.</summary>
    public IReadOnlyList<string> Maps { get; }

    /// <summary>The text of the reduce; null if there is none.</summary>
    public string? Reduce { get; }

    /// <summary>The fields, in the order in which the texts name them. The position of a field is its number.</summary>
    public IReadOnlyList<StaticIndexField> Fields { get; }

    /// <summary>The texts of the additional sources, by name.</summary>
    public IReadOnlyDictionary<string, string> AdditionalSources => _sources.Texts;

    /// <summary>The settings of the index.</summary>
    public IReadOnlyDictionary<string, string> Configuration { get; }

    /// <summary>The collections whose documents the maps index; empty for all.</summary>
    public IReadOnlyList<string> Collections =>
        CompiledMaps.Any(static map => map.Collection is null)
            ? []
            : [.. CompiledMaps.Select(static map => map.Collection!).Distinct(IgnoredCase.OfCollections)];

    /// <summary>The collections of documents that the maps load.</summary>
    public IReadOnlyList<string> LoadedCollections =>
        [.. CompiledMaps.SelectMany(static map => map.Program.LoadedCollections).Distinct(IgnoredCase.OfCollections)];

    /// <summary>Whether the maps index counters of documents instead of the documents.</summary>
    public bool IsOfCounters => CompiledMaps[0].Source.IsOfCounters;

    /// <summary>Whether rows name further fields.</summary>
    public bool NamesFields => CompiledMaps.Any(static map => map.NamesFields);

    /// <summary>The defaults for the options of fields that rows name.</summary>
    internal StaticIndexField NamedDefaults =>
        Options.FirstOrDefault(static option => option.Name is StaticIndexRequest.AllFields)
        ?? new StaticIndexField(StaticIndexRequest.AllFields);

    /// <summary>The analyzer of the fields that rows name.</summary>
    public Analyzer NamedAnalyzer =>
        AnalyzerCatalog.Make(NamedDefaults.Analyzer ?? AnalyzerCatalog.DefaultName, Configuration);

    /// <summary>The factors by which maps boost the scores of conditions on fields; without factors of 1.</summary>
    public IReadOnlyDictionary<string, double> Factors { get; }

    /// <summary>The compiled maps.</summary>
    public IReadOnlyList<CompiledMap> CompiledMaps { get; }

    internal CompiledReduce? CompiledReduce { get; }

    /// <summary>Whether <see cref="RequireUnambiguousReduce"/> runs the reduce on generated rows.</summary>
    internal bool NeedsTrial => ReduceTrial.IsNeededFor(CompiledReduce);

    /// <summary>
    /// The options of fields as the definition gives them, without options that have no effect. The options of
    /// <c>__all_fields</c> apply to all fields.
    /// </summary>
    public IReadOnlyList<StaticIndexField> Options { get; }

    /// <summary>
    /// Rejects a reduce whose result depends on how its rows are split into parts. Runs the reduce on generated rows.
    /// Called for each new definition, and when a version of Rookery opens the index for the first time.
    /// </summary>
    /// <exception cref="IndexDefinitionException">The result depends on the parts. The message names a member that
    /// differs.</exception>
    public void RequireUnambiguousReduce()
    {
        if (CompiledReduce is null)
        {
            return;
        }

        string? fault;
        try
        {
            fault = Compile(Reduce!, "reduce", text => ReduceTrial.FindFault(CompiledReduce, _sources.Before(text)));
        }
        catch (InvalidOperationException)
        {
            throw new IndexDefinitionException(
                "The reduce names a member of an object by half of a surrogate pair. Write the whole character."
            );
        }

        if (fault is not null)
        {
            throw new IndexDefinitionException(fault);
        }
    }

    /// <summary>Returns the definition as JSON, as the log holds it. Equal definitions give equal bytes.</summary>
    public byte[] ToJson()
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString("Type", TypeName);
            json.WriteStartArray(MapsMember);
            foreach (string map in Maps)
            {
                json.WriteStringValue(map);
            }

            json.WriteEndArray();
            if (Reduce is not null)
            {
                json.WriteString(ReduceMember, Reduce);
            }

            json.WriteStartArray(FieldsMember);
            foreach (var field in Options)
            {
                WriteField(json, field);
            }

            json.WriteEndArray();
            json.WriteStartObject(ConfigurationMember);
            foreach (var (name, value) in Configuration)
            {
                json.WriteString(name, value);
            }

            json.WriteEndObject();
            if (AdditionalSources.Count > 0)
            {
                json.WriteStartObject(SourcesMember);
                foreach (var (name, text) in AdditionalSources)
                {
                    json.WriteString(name, text);
                }

                json.WriteEndObject();
            }

            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Reads a definition; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">The definition is malformed or of a newer version.</exception>
    public static StaticIndexDefinition? TryRead(ReadOnlyMemory<byte> definition)
    {
        try
        {
            using var json = JsonDocument.Parse(definition);
            return json.RootElement.TryGetProperty("Type", out var type) && type.ValueEquals(TypeName)
                ? Parse(json.RootElement)
                : null;
        }
        catch (JsonException)
        {
            throw new IndexDefinitionException("its definition is not JSON.");
        }
    }

    /// <summary>
    /// Returns the collections that the maps of a definition index or load, with
    /// <see cref="AutoIndexDefinition.AllDocuments"/> for a map of all documents. Only the maps are compiled, so this
    /// works even if the reduce is rejected.
    /// </summary>
    /// <returns>The collections; null if they cannot be determined.</returns>
    public static IReadOnlyList<string>? TryReadCollections(ReadOnlyMemory<byte> definition)
    {
        try
        {
            using var json = JsonDocument.Parse(definition);
            var root = json.RootElement;
            if (!root.TryGetProperty("Type", out var type) || !type.ValueEquals(TypeName))
            {
                return null;
            }

            var sources = new AdditionalSources(TextsOf(root, SourcesMember), IndexScript.CompileFunctions);
            var collections = root.GetProperty(MapsMember)
                .EnumerateArray()
                .Select(map => IndexScript.CompileMap(Normalise(MapTextOf(map)), sources))
                .SelectMany(static map =>
                    map.Program.LoadedCollections.Prepend(map.Collection ?? AutoIndexDefinition.AllDocuments)
                )
                .Distinct(IgnoredCase.OfCollections)
                .ToList();
            return collections.Count > 0 ? collections : null;
        }
        catch (Exception unread) when (unread is not OutOfMemoryException)
        {
            // The definition may be of another version; opening the index reports the error.
            return null;
        }
    }

    private static string MapTextOf(JsonElement map) => map.GetString() ?? throw new FormatException();

    private static StaticIndexDefinition Parse(JsonElement json)
    {
        try
        {
            return new StaticIndexDefinition(
                json.GetProperty(MapsMember).EnumerateArray().Select(MapTextOf),
                json.TryGetProperty(ReduceMember, out var reduce) ? reduce.GetString() : null,
                json.GetProperty(FieldsMember).EnumerateArray().Select(ParseField),
                TextsOf(json, ConfigurationMember),
                TextsOf(json, SourcesMember)
            );
        }
        catch (Exception wrong) when (wrong is InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new IndexDefinitionException(
                "The definition of a static index was written by a newer version of Rookery. Start that version."
            );
        }
    }

    private static List<KeyValuePair<string, string>> TextsOf(JsonElement json, string member) =>
        json.TryGetProperty(member, out var texts)
            ?
            [
                .. texts
                    .EnumerateObject()
                    .Select(static text => KeyValuePair.Create(text.Name, text.Value.GetString()!)),
            ]
            : [];

    private static void WriteField(Utf8JsonWriter json, StaticIndexField field)
    {
        json.WriteStartObject();
        json.WriteString("Name", field.Name);
        json.WriteNumber("Indexing", (byte)field.Indexing);
        if (field.Analyzer is not null)
        {
            json.WriteString("Analyzer", field.Analyzer);
        }

        json.WriteBoolean("Stored", field.IsStored);
        json.WriteBoolean("Suggestions", field.HasSuggestions);
        json.WriteEndObject();
    }

    private static StaticIndexField ParseField(JsonElement field)
    {
        var indexing = (FieldIndexing)field.GetProperty("Indexing").GetByte();
        return indexing <= FieldIndexing.No
            ? new StaticIndexField(
                field.GetProperty("Name").GetString()!,
                indexing,
                field.TryGetProperty("Analyzer", out var analyzer) ? analyzer.GetString() : null,
                field.GetProperty("Stored").GetBoolean(),
                field.GetProperty("Suggestions").GetBoolean()
            )
            : throw new FormatException();
    }

    /// <summary>Returns the text with <c>\n</c> as line ends and without blanks around it.</summary>
    private static string Normalise(string text) => text.ReplaceLineEndings("\n").Trim();

    private static AdditionalSources CompileSources(
        IReadOnlyList<KeyValuePair<string, string>> sources,
        IReadOnlyList<string> maps
    )
    {
        if (sources.Count > 0 && maps.Any(IndexScript.IsCSharp))
        {
            throw new IndexDefinitionException(
                $"This server does not support '{SourcesMember}' of an index with a map in C#.",
                isNotSupported: true
            );
        }

        return Compile(
            Mapping.AdditionalSources.Join(sources),
            "text of the additional sources",
            _ => new AdditionalSources(sources, IndexScript.CompileFunctions)
        );
    }

    private static T Compile<T>(string text, string kind, Func<string, T> compile)
    {
        try
        {
            return compile(text);
        }
        catch (ScriptException refusal)
        {
            int at = Math.Min(refusal.Position, text.Length);
            int line = text.AsSpan(0, at).Count('\n') + 1;
            int column = at - text.AsSpan(0, at).LastIndexOf('\n');
            string place = string.Create(
                System.Globalization.CultureInfo.InvariantCulture,
                $"The {kind}, line {line}, column {column}: "
            );
            throw new IndexDefinitionException(
                place + refusal.Describe(text),
                refusal.Fault == ScriptFault.NotSupported
            );
        }
    }

    /// <summary>Returns the fields that the texts name, with their options.</summary>
    private StaticIndexField[] MakeFields()
    {
        string[] mapped = [.. CompiledMaps.SelectMany(static map => map.Fields).Distinct(StringComparer.Ordinal)];
        string[] names = [.. CompiledReduce?.Fields ?? mapped];
        int most = MappedField.MaxFields - (NamesFields ? NamedFields.MaxNames + 1 : 0);
        if (names.Length > most)
        {
            throw new IndexDefinitionException(
                $"The index has {Amount.Number(names.Length)} fields, and at most "
                    + $"{Amount.Number(most)} are allowed. Use several indexes."
            );
        }

        if (NamesFields && Reduce is not null)
        {
            throw new IndexDefinitionException(
                "This server does not support fields that documents name (the member '_') in an index with a reduce.",
                isNotSupported: true
            );
        }

        if (CompiledReduce is not null)
        {
            foreach (var map in CompiledMaps)
            {
                RequireSameFields(map.Fields, CompiledReduce.Fields);
            }
        }

        var unknown = Options.FirstOrDefault(option =>
            option.Name is not StaticIndexRequest.AllFields && !names.Contains(option.Name, StringComparer.Ordinal)
        );
        if (unknown is not null)
        {
            throw new IndexDefinitionException(
                $"The options name a field '{unknown.Name}', which the index does not have. It has "
                    + $"{string.Join(", ", names)}."
            );
        }

        var general = Options.FirstOrDefault(static option => option.Name is StaticIndexRequest.AllFields);
        return
        [
            .. names.Select(name =>
                WithDefaults(
                    Options.FirstOrDefault(option => string.Equals(option.Name, name, StringComparison.Ordinal))
                        ?? new StaticIndexField(name),
                    general
                )
            ),
        ];
    }

    /// <summary>Returns the factors of fields that the maps boost.</summary>
    private Dictionary<string, double> MakeFactors()
    {
        var factors = new Dictionary<string, double>(StringComparer.Ordinal);
        foreach (var (name, factor) in CompiledMaps.SelectMany(static map => map.Factors))
        {
            if (!factors.TryAdd(name, factor) && factors[name] != factor)
            {
                throw new IndexDefinitionException(
                    $"The maps boost the field '{name}' by different factors. This server supports one factor for "
                        + "each field.",
                    isNotSupported: true
                );
            }
        }

        foreach (string name in factors.Keys.Where(name => factors[name] == 1))
        {
            factors.Remove(name);
        }

        return factors.Count == 0 || Reduce is null
            ? factors
            : throw new IndexDefinitionException(
                "This server does not support a boost in the map of an index with a reduce.",
                isNotSupported: true
            );
    }

    private static StaticIndexField WithDefaults(StaticIndexField field, StaticIndexField? general) =>
        general is null
            ? field
            : field with
            {
                Indexing = field.Indexing == FieldIndexing.Default ? general.Indexing : field.Indexing,
                Analyzer = field.Analyzer ?? general.Analyzer,
                IsStored = field.IsStored || general.IsStored,
                HasSuggestions = field.HasSuggestions || general.HasSuggestions,
            };

    /// <summary>
    /// Requires equal fields of map and reduce, because reduced rows are reduced again together with rows of the maps.
    /// </summary>
    private static void RequireSameFields(IReadOnlyList<string> mapped, IReadOnlyList<string> reduced)
    {
        if (mapped.Except(reduced, StringComparer.Ordinal).FirstOrDefault() is { } missing)
        {
            throw new IndexDefinitionException(
                $"The map and the reduce of an index must return the same fields, because rows are reduced again, but "
                    + $"the reduce does not return '{missing}'."
            );
        }

        if (reduced.Except(mapped, StringComparer.Ordinal).FirstOrDefault() is { } added)
        {
            throw new IndexDefinitionException(
                $"The map and the reduce of an index must return the same fields, because rows are reduced again, but "
                    + $"a map does not return '{added}'."
            );
        }
    }

    private void CheckAnalyzer(StaticIndexField field)
    {
        try
        {
            AnalyzerCatalog.Make(field.Analyzer!, Configuration);
        }
        catch (AnalyzerException wrong)
        {
            throw new IndexDefinitionException($"The field '{field.Name}': {wrong.Message}");
        }
    }
}
