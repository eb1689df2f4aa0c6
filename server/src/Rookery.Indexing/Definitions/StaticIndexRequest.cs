using System.Text.Json;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A definition of an index as RavenDB's clients send it (<c>PUT /databases/{name}/indexes</c>), read and checked.
/// </summary>
/// <param name="Name">The name of the index.</param>
/// <param name="Definition">The definition of the index.</param>
/// <param name="Settings">The settings to change.</param>
public sealed record StaticIndexRequest(string Name, StaticIndexDefinition Definition, IndexSettingsChange Settings)
{
    /// <summary>The name under which a definition has options for all fields.</summary>
    internal const string AllFields = "__all_fields";

    /// <summary>Members that this version does not support: they must be empty.</summary>
    private static readonly string[] Unsupported =
    [
        "AdditionalAssemblies",
        "CompoundFields",
        "OutputReduceToCollection",
        "ReduceOutputIndex",
        "PatternForOutputReduceToCollectionReferences",
        "PatternReferencesCollectionName",
    ];

    /// <summary>
    /// Members that are ignored, because they are derived from the texts of the maps and the reduce, or are set by a
    /// RavenDB server.
    /// </summary>
    private static readonly string[] Ignored = ["IndexType", "Type", "ClusterState"];

    /// <summary>Members that a definition may have, for a suggestion when a name is misspelt.</summary>
    private static readonly string[] Known =
    [
        "Name",
        "Maps",
        "Reduce",
        "Fields",
        "Configuration",
        "AdditionalSources",
        "LockMode",
        "Priority",
        "State",
    ];

    /// <summary>RavenDB's search engines. A definition may name any of them; results are the same here.</summary>
    private static readonly string[] SearchEngines = ["None", "Lucene", "Corax"];

    /// <summary>Members of which only these values are accepted.</summary>
    private static readonly Dictionary<string, string[]> Fixed = new(StringComparer.Ordinal)
    {
        ["DeploymentMode"] = ["Parallel"],
        ["ArchivedDataProcessingBehavior"] = ["ExcludeArchived"],
    };

    /// <summary>Reads and checks one definition.</summary>
    /// <param name="json">An element of <c>Indexes</c>.</param>
    /// <param name="isStored">Returns whether the same definition is already stored, so its reduce need not be run on
    /// generated rows to check it. Null to check every reduce.</param>
    /// <exception cref="IndexDefinitionException">The definition is rejected. The message names the member and, in a
    /// script, line and column.</exception>
    public static StaticIndexRequest Parse(JsonElement json, Func<StaticIndexRequest, bool>? isStored = null)
    {
        if (json.ValueKind != JsonValueKind.Object)
        {
            throw new IndexDefinitionException("A definition of an index must be a JSON object.");
        }

        string? name = null,
            reduce = null;
        List<string> maps = [];
        List<StaticIndexField> fields = [];
        List<KeyValuePair<string, string>> configuration = [],
            additional = [];
        var settings = default(IndexSettingsChange);
        var sources = new List<JsonProperty>();
        foreach (var member in json.EnumerateObject())
        {
            var value = member.Value;
            switch (member.Name)
            {
                case "Name":
                    name = Text(member);
                    break;
                case "Maps":
                    maps.AddRange(Elements(member));
                    break;
                case "Reduce":
                    reduce = IsEmpty(value) ? null : Text(member);
                    break;
                case "Fields" or "Configuration" or "AdditionalSources" when IsEmpty(value):
                    break;
                case "AdditionalSources":
                    additional.AddRange(
                        Members(member).Select(static source => KeyValuePair.Create(source.Name, Text(source)))
                    );
                    break;
                case "Fields":
                    fields.AddRange(Members(member).Select(FieldOptions.Parse));
                    break;
                case "Configuration":
                    configuration.AddRange(Members(member).Select(ParseSetting).OfType<KeyValuePair<string, string>>());
                    break;
                case "LockMode":
                    settings = settings with { LockMode = IsEmpty(value) ? null : Word<IndexLockMode>(member) };
                    break;
                case "Priority":
                    settings = settings with { Priority = IsEmpty(value) ? null : Word<IndexPriority>(member) };
                    break;
                case "State":
                    settings = settings with { IsDisabled = IsEmpty(value) ? null : ParseState(member) };
                    break;
                // The Node client sends its private field once it has read a definition from an answer or compared it.
                case "SourceType" or "IndexSourceType" or "_indexSourceType":
                    sources.Add(member);
                    break;
                default:
                    RequireKnown(member);
                    break;
            }
        }

        if (IndexRecord.NameProblem(name) is { } problem)
        {
            throw new IndexDefinitionException(problem);
        }

        if (name!.StartsWith("Auto/", StringComparison.OrdinalIgnoreCase))
        {
            throw new IndexDefinitionException("Names that begin with 'Auto/' are reserved for automatic indexes.");
        }

        if (name.StartsWith("ReplacementOf/", StringComparison.OrdinalIgnoreCase))
        {
            throw new IndexDefinitionException(
                "Names that begin with 'ReplacementOf/' are reserved for changed definitions that are being built. "
                    + "Send the changed definition under the name of its index."
            );
        }

        var definition = new StaticIndexDefinition(
            maps,
            reduce,
            fields.Where(FieldOptions.HasEffect),
            configuration,
            additional
        );
        sources.ForEach(source => RequireSource(source, definition.IsOfCounters));
        return Check(new StaticIndexRequest(name, definition, settings), isStored);
    }

    /// <summary>Returns whether a value is null, blank or empty.</summary>
    internal static bool IsEmpty(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.Null => true,
            JsonValueKind.String => string.IsNullOrWhiteSpace(value.GetString()),
            JsonValueKind.Object => !value.EnumerateObject().Any(),
            JsonValueKind.Array => value.GetArrayLength() == 0,
            _ => false,
        };

    /// <summary>Returns the string value of a member.</summary>
    internal static string Text(JsonProperty member) =>
        member.Value.ValueKind == JsonValueKind.String
            ? member.Value.GetString()!
            : throw new IndexDefinitionException($"'{member.Name}' must be a string.");

    /// <summary>Returns the value of a member that names an enumeration value.</summary>
    internal static T Word<T>(JsonProperty member)
        where T : struct, Enum =>
        EnumName.TryParse(Text(member), out T word)
            ? word
            : throw new IndexDefinitionException(
                $"'{member.Name}' must be one of {string.Join(", ", Enum.GetNames<T>())}, not '{Text(member)}'."
            );

    private static StaticIndexRequest Check(StaticIndexRequest request, Func<StaticIndexRequest, bool>? isStored)
    {
        if (isStored is null || !isStored(request))
        {
            request.Definition.RequireUnambiguousReduce();
        }

        RequireUsable(request.Definition.Configuration);
        int bytes = request.Definition.ToJson().Length;
        return bytes <= IndexRecord.MaxDefinitionBytes
            ? request
            : throw new IndexDefinitionException(
                $"The definition takes {Amount.Number(bytes)} B, and at most "
                    + $"{Amount.Number(IndexRecord.MaxDefinitionBytes)} B are allowed."
            );
    }

    /// <summary>Checks the settings of the n-gram analyzer, also if no field has this analyzer.</summary>
    private static void RequireUsable(IReadOnlyDictionary<string, string> configuration)
    {
        try
        {
            AnalyzerCatalog.Make("NGramAnalyzer", configuration);
        }
        catch (AnalyzerException wrong)
        {
            throw new IndexDefinitionException(wrong.Message);
        }
    }

    private static void RequireSource(JsonProperty member, bool isOfCounters)
    {
        string actual = isOfCounters ? "Counters" : "Documents";
        string given = IsEmpty(member.Value) ? "None" : Text(member);
        if (
            !given.Equals("None", StringComparison.OrdinalIgnoreCase)
            && !given.Equals(actual, StringComparison.OrdinalIgnoreCase)
        )
        {
            throw new IndexDefinitionException(
                $"'{member.Name}' of the index is {given}, but its maps read {actual}.",
                isNotSupported: true
            );
        }
    }

    private static IEnumerable<string> Elements(JsonProperty member) =>
        member.Value.ValueKind == JsonValueKind.Array
            ? member
                .Value.EnumerateArray()
                .Select(element =>
                    element.ValueKind == JsonValueKind.String
                        ? element.GetString()!
                        : throw new IndexDefinitionException($"'{member.Name}' must contain only strings.")
                )
            : throw new IndexDefinitionException($"'{member.Name}' must be a list of strings.");

    private static JsonElement.ObjectEnumerator Members(JsonProperty member) =>
        member.Value.ValueKind == JsonValueKind.Object
            ? member.Value.EnumerateObject()
            : throw new IndexDefinitionException($"'{member.Name}' must be an object.");

    // A definition that is read from a server may have the state of an index that does not run.
    private static bool? ParseState(JsonProperty member) =>
        Text(member) switch
        {
            "Normal" => false,
            "Disabled" => true,
            "Idle" or "Error" => null,
            _ => throw new IndexDefinitionException(
                $"'State' must be Normal or Disabled in a definition, not '{Text(member)}'."
            ),
        };

    private static void RequireKnown(JsonProperty member)
    {
        bool isFixed =
            Fixed.TryGetValue(member.Name, out string[]? words)
            && (IsEmpty(member.Value) || words.Contains(Text(member), StringComparer.OrdinalIgnoreCase));
        if (
            isFixed
            || Ignored.Contains(member.Name, StringComparer.Ordinal)
            || (Unsupported.Contains(member.Name, StringComparer.Ordinal) && IsEmpty(member.Value))
        )
        {
            return;
        }

        throw new IndexDefinitionException(
            $"This server does not support '{member.Name}' of an index." + Spelling.Suggest(member.Name, Known),
            isNotSupported: true
        );
    }

    /// <summary>Returns a setting that an analyzer reads; null for one without effect here.</summary>
    private static KeyValuePair<string, string>? ParseSetting(JsonProperty setting)
    {
        if (setting.Name is "Indexing.Static.SearchEngineType")
        {
            return SearchEngines.Contains(Text(setting), StringComparer.OrdinalIgnoreCase)
                ? null
                : throw new IndexDefinitionException(
                    $"The setting '{setting.Name}' must be None, Lucene or Corax, not '{Text(setting)}'."
                );
        }

        if (setting.Name is MissingFields.Setting)
        {
            string given = setting.Value.ValueKind == JsonValueKind.String ? Text(setting) : setting.Value.GetRawText();
            return bool.TryParse(given, out bool isOn)
                ? KeyValuePair.Create(setting.Name, isOn ? "true" : "false")
                : throw new IndexDefinitionException(
                    $"The setting '{setting.Name}' must be true or false, not '{given}'."
                );
        }

        return AnalyzerCatalog.HasSetting(setting.Name)
            ? KeyValuePair.Create(
                setting.Name,
                setting.Value.ValueKind == JsonValueKind.Number ? setting.Value.GetRawText() : Text(setting)
            )
            : throw new IndexDefinitionException(
                $"This server does not have the setting '{setting.Name}' of an index.",
                isNotSupported: true
            );
    }

    /// <summary>Reads the options of a field.</summary>
    private static class FieldOptions
    {
        private static readonly string[] TermVectors =
        [
            "No",
            "Yes",
            "WithPositions",
            "WithOffsets",
            "WithPositionsAndOffsets",
        ];

        public static bool HasEffect(StaticIndexField field) => field != new StaticIndexField(field.Name);

        public static StaticIndexField Parse(JsonProperty field)
        {
            if (field.Value.ValueKind != JsonValueKind.Object)
            {
                throw new IndexDefinitionException($"The options of the field '{field.Name}' must be an object.");
            }

            var options = new StaticIndexField(field.Name);
            bool namesIndexing = false;
            foreach (var option in field.Value.EnumerateObject().Where(static option => !IsEmpty(option.Value)))
            {
                namesIndexing |= option.Name is "Indexing";
                options = option.Name switch
                {
                    "Storage" => options with { IsStored = options.IsStored || ParseStorage(option) },
                    "Indexing" when Text(option) is "Highlighting" => options with
                    {
                        Indexing = FieldIndexing.Search,
                        IsStored = true,
                    },
                    "Indexing" => options with { Indexing = Word<FieldIndexing>(option) },
                    "Analyzer" => options with { Analyzer = Text(option) },
                    "Suggestions" => options with
                    {
                        HasSuggestions = option.Value.ValueKind is JsonValueKind.True or JsonValueKind.False
                            ? option.Value.GetBoolean()
                            : throw new IndexDefinitionException(
                                $"'Suggestions' of the field '{field.Name}' must be true or false."
                            ),
                    },
                    "TermVector" when TermVectors.Contains(Text(option), StringComparer.OrdinalIgnoreCase) => options,
                    _ => throw new IndexDefinitionException(
                        $"This server does not support '{option.Name}' of the field '{field.Name}'.",
                        isNotSupported: true
                    ),
                };
            }

            if (options.Analyzer is null)
            {
                return options;
            }

            if (!namesIndexing)
            {
                // As in RavenDB, an analyzer implies a search by words.
                return options with { Indexing = FieldIndexing.Search };
            }

            return options.Indexing == FieldIndexing.Search || IsImplied(field.Name, options.Analyzer, options.Indexing)
                ? options
                : throw new IndexDefinitionException(
                    $"The field '{field.Name}' has an analyzer, but its 'Indexing' is {options.Indexing}, which uses "
                        + "no analyzer. Use 'Search' or leave the analyzer out."
                );
        }

        /// <summary>
        /// Returns whether an analyzer makes the same term of a value as indexing the value whole, so that naming the
        /// analyzer has no effect. RavenDB's Studio sends the names of such analyzers.
        /// </summary>
        private static bool IsImplied(string field, string analyzer, FieldIndexing indexing)
        {
            string? implied = indexing switch
            {
                FieldIndexing.Exact => "KeywordAnalyzer",
                FieldIndexing.Default => "LowerCaseKeywordAnalyzer",
                _ => null,
            };
            try
            {
                return implied is not null
                    && string.Equals(AnalyzerCatalog.Make(analyzer).Name, implied, StringComparison.Ordinal);
            }
            catch (AnalyzerException wrong)
            {
                throw new IndexDefinitionException($"The field '{field}': {wrong.Message}");
            }
        }

        private static bool ParseStorage(JsonProperty option) =>
            Text(option) switch
            {
                "Yes" => true,
                "No" => false,
                _ => throw new IndexDefinitionException($"'Storage' must be Yes or No, not '{Text(option)}'."),
            };
    }
}
