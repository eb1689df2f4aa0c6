using System.Text.Json;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>What an export or an import of a dump is to contain, as RavenDB's clients send it.</summary>
internal sealed class SmugglerOptions
{
    private static readonly string[] ReadTypes =
    [
        "Documents",
        "Attachments",
        "CounterGroups",
        "CompareExchange",
        "Identities",
        "Indexes",
        "RevisionDocuments",
        "DatabaseRecord",
        "Subscriptions",
    ];

    // Types that this server does not have, or does not read and write yet. The result names what was left out.
    private static readonly string[] OtherTypes =
    [
        "None",
        "Conflicts",
        "TimeSeries",
        "TimeSeriesDeletedRanges",
        "Tombstones",
        "CompareExchangeTombstones",
        "LegacyDocumentDeletions",
        "LegacyAttachments",
        "LegacyAttachmentDeletions",
        "Counters",
        "ReplicationHubCertificates",
    ];

    // The parts of a record that RavenDB's clients may name. This server has some of them.
    private static readonly string[] RecordParts =
    [
        "None",
        "AiConnectionStrings",
        "Analyzers",
        "Client",
        "ConflictSolverConfig",
        "DataArchival",
        "DocumentsCompression",
        "ElasticSearchConnectionStrings",
        "ElasticSearchEtls",
        "Expiration",
        "ExternalReplications",
        "HubPullReplications",
        "IndexesHistory",
        "LockMode",
        "OlapConnectionStrings",
        "OlapEtls",
        "PeriodicBackups",
        "PostgreSqlIntegration",
        "QueueConnectionStrings",
        "QueueEtl",
        "QueueEtls",
        "QueueSinks",
        "RavenConnectionStrings",
        "RavenEtls",
        "Refresh",
        "RemoteAttachments",
        "Revisions",
        "SchemaValidation",
        "Settings",
        "SinkPullReplications",
        "SnowflakeConnectionStrings",
        "SnowflakeEtls",
        "Sorters",
        "SqlConnectionStrings",
        "SqlEtls",
        "TimeSeries",
    ];

    private readonly HashSet<string> _types = new(ReadTypes, StringComparer.OrdinalIgnoreCase);

    /// <summary>The collections of the documents, in any casing; null for all documents.</summary>
    public HashSet<string>? Collections { get; private set; }

    private HashSet<string>? RecordTypes { get; set; }

    /// <summary>Returns whether a configuration of the database's record is wanted.</summary>
    /// <param name="member">The member of the record.</param>
    public bool HasOfRecord(string member) => RecordTypes is null || RecordTypes.Contains(member);

    /// <summary>Returns whether a type of data is wanted.</summary>
    public bool Has(string type) => _types.Contains(type);

    /// <summary>Reads the body of an export, or the options of an import; empty for all.</summary>
    /// <exception cref="RefusedException">An option is malformed (400) or not supported (501).</exception>
    public static SmugglerOptions Read(ReadOnlySpan<byte> body)
    {
        var options = new SmugglerOptions();
        if (!body.IsEmpty)
        {
            JsonBody.Read(
                body,
                (ref Utf8JsonReader json) =>
                {
                    JsonBody.ForEachMember(ref json, options.ReadOption, "The options");
                    return true;
                }
            );
        }

        return options;
    }

    private void ReadOption(string name, ref Utf8JsonReader value)
    {
        switch (name)
        {
            case "OperateOnTypes":
                ReadOperateOnTypes(JsonBody.ReadText(ref value, name));
                break;
            case "Collections" when value.TokenType == JsonTokenType.StartArray:
                var collections = JsonBody.ReadTexts(ref value, name);
                Collections =
                    collections.Count == 0 ? null : new HashSet<string>(collections, IgnoredCase.OfCollections);
                break;
            case "CompressionAlgorithm":
                RequireText(ref value, name, "Gzip");
                break;
            case "OperateOnDatabaseRecordType":
                RecordTypes = JsonBody.ReadText(ref value, name) is { } parts
                    ? new HashSet<string>(Known(parts, name, RecordParts), StringComparer.OrdinalIgnoreCase)
                    : null;
                break;
            // Without a script it limits nothing.
            case "MaxStepsForTransformScript":
                value.Skip();
                break;
            // Documents that have expired or are archived are always written, and artificial ones do not exist.
            case "IncludeExpired" or "IncludeArchived":
                RequireFlag(ref value, name, expected: true);
                break;
            case "IncludeArtificial" or "RemoveAnalyzers" or "SkipCorruptedData" or "SkipRevisionCreation":
                RequireFlag(ref value, name, expected: false);
                break;
            case "TransformScript" or "EncryptionKey" when value.ValueTextEquals(""u8):
                break;
            default:
                JsonBody.RequireNull(ref value, name, "the options of a dump", "OperateOnTypes", "Collections");
                break;
        }
    }

    private void ReadOperateOnTypes(string? types)
    {
        if (types is null)
        {
            return;
        }

        _types.Clear();
        _types.UnionWith(Known(types, "OperateOnTypes", [.. ReadTypes, .. OtherTypes]));
    }

    // An unknown name would leave out what its sender meant.
    private static string[] Known(string list, string option, string[] names)
    {
        string[] types = list.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        return Array.Find(types, type => !names.Contains(type, StringComparer.OrdinalIgnoreCase)) is { } unknown
            ? throw RefusedException.NotSupported(
                $"The type '{unknown}' in {option} is not known to this version. Leave it out."
            )
            : types;
    }

    private static void RequireFlag(ref Utf8JsonReader value, string name, bool expected)
    {
        if (value.TokenType is not (JsonTokenType.True or JsonTokenType.False or JsonTokenType.Null))
        {
            throw RefusedException.BadRequest($"'{name}' must be true or false.");
        }

        if (value.TokenType == (expected ? JsonTokenType.False : JsonTokenType.True))
        {
            throw RefusedException.NotSupported(
                $"The option '{name}' of a dump can only be {(expected ? "true" : "false")} in this version."
            );
        }
    }

    private static void RequireText(ref Utf8JsonReader value, string name, string expected)
    {
        if (
            JsonBody.ReadText(ref value, name) is { } text
            && !text.Equals(expected, StringComparison.OrdinalIgnoreCase)
        )
        {
            throw RefusedException.NotSupported(
                $"The option '{name}' of a dump can only be {expected} in this version."
            );
        }
    }
}
