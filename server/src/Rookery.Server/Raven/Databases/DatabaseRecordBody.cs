using System.Text.Json;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// Reads the body of PUT admin/databases. Clients send every member of a record, most of them empty. A member that
/// requests something is refused by name, so that no database differs silently from its record.
/// </summary>
internal static class DatabaseRecordBody
{
    // All members hold all databases, so any requested topology is satisfied; there are no conflicts to resolve.
    private static readonly string[] Harmless = ["Topology", "ConflictSolverConfig"];

    // The node decides where data is stored, and it is always stored durably.
    private static readonly string[] HarmlessSettings = ["DataDir", "RunInMemory", "Core.RunInMemory"];

    // Maps from names, whose clients' default is an empty one. An empty object of any other member is a configuration,
    // whose presence switches a feature on: 'Sharding' and 'Expiration' are examples.
    private static readonly string[] Maps =
    [
        "Analyzers",
        "AutoIndexes",
        "DeletionInProgress",
        "Indexes",
        "IndexesHistory",
        "RollingIndexes",
        "Settings",
        "Sorters",
    ];

    private const string EndOfMaps = "ConnectionStrings";

    /// <summary>
    /// Returns the database's name, from the query string or the record of a new database, or of an existing one as the
    /// server answered it.
    /// </summary>
    /// <param name="body">The record; empty for none.</param>
    /// <param name="name">The name in the query string, or null.</param>
    /// <param name="indexes">Names of the indexes of an existing database; null for a new one.</param>
    /// <exception cref="RefusedException">The record requests something unsupported (501), or names another database
    /// (400).</exception>
    public static string? ReadName(
        ReadOnlySpan<byte> body,
        string? name,
        IReadOnlyCollection<string>? indexes = null
    ) =>
        body.IsEmpty
            ? name
            : JsonBody.Read(
                body,
                (ref Utf8JsonReader json) =>
                {
                    string? found = name;
                    JsonBody.ForEachMember(
                        ref json,
                        (string member, ref Utf8JsonReader value) =>
                        {
                            switch (member)
                            {
                                case "DatabaseName":
                                    found = RequireSame(name, JsonBody.ReadText(ref value, member));
                                    break;
                                case "Settings" when value.TokenType == JsonTokenType.StartObject:
                                    JsonBody.ForEachMember(ref value, RequireHarmlessSetting);
                                    break;
                                case "LockMode"
                                    when value.TokenType == JsonTokenType.String && value.ValueTextEquals("Unlock"u8):
                                case "DatabaseState"
                                    when value.TokenType == JsonTokenType.String && value.ValueTextEquals("Normal"u8):
                                    break;
                                case "Etag" when indexes is not null && value.TokenType == JsonTokenType.Number:
                                    break;
                                case "Indexes"
                                or "AutoIndexes"
                                    when indexes is not null && value.TokenType == JsonTokenType.StartObject:
                                    RequireKnownIndexes(ref value, member, indexes);
                                    break;
                                case { } harmless when Array.IndexOf(Harmless, harmless) >= 0:
                                    value.Skip();
                                    break;
                                default:
                                    RequireEmpty(ref value, member);
                                    break;
                            }
                        }
                    );
                    return found;
                }
            );

    private static string? RequireSame(string? name, string? recorded)
    {
        if (string.IsNullOrEmpty(recorded))
        {
            return name;
        }

        if (string.IsNullOrEmpty(name))
        {
            return recorded;
        }

        if (DatabaseName.AreEqual(name, recorded))
        {
            return name;
        }

        throw RefusedException.BadRequest(
            $"The query names the database '{name}', and its record '{recorded}': name one. The database was "
                + $"not changed."
        );
    }

    /// <summary>Accepts indexes that exist. Their definitions are changed by the routes of indexes only.</summary>
    private static void RequireKnownIndexes(
        ref Utf8JsonReader value,
        string member,
        IReadOnlyCollection<string> indexes
    ) =>
        JsonBody.ForEachMember(
            ref value,
            (string index, ref Utf8JsonReader definition) =>
            {
                if (!indexes.Contains(index, StringComparer.OrdinalIgnoreCase))
                {
                    throw RefusedException.NotSupported(
                        $"'{member}' in the record of a database is not supported by this version, and there is no "
                            + $"index '{index}'. Nothing was changed; send the definition to PUT admin/indexes."
                    );
                }

                definition.Skip();
            }
        );

    private static void RequireHarmlessSetting(string setting, ref Utf8JsonReader value)
    {
        if (Array.IndexOf(HarmlessSettings, setting) < 0 && value.TokenType != JsonTokenType.Null)
        {
            throw RefusedException.NotSupported(
                $"The setting '{setting}' in the record of a database is not supported by this version. "
                    + "Nothing was changed; leave it out."
            );
        }

        value.Skip();
    }

    private static void RequireEmpty(ref Utf8JsonReader value, string member)
    {
        bool isMap = Array.IndexOf(Maps, member) >= 0 || member.EndsWith(EndOfMaps, StringComparison.Ordinal);
        if (!IsEmpty(ref value, isMap))
        {
            throw RefusedException.NotSupported(
                $"'{member}' in the record of a database is not supported by this version. Nothing was "
                    + "changed; leave it out."
            );
        }
    }

    private static bool IsEmpty(ref Utf8JsonReader value, bool isMap)
    {
        switch (value.TokenType)
        {
            case JsonTokenType.Null or JsonTokenType.False:
                return true;
            case JsonTokenType.String:
                return value.ValueTextEquals(""u8);
            case JsonTokenType.Number:
                return value.GetDouble() == 0;
            case JsonTokenType.StartObject or JsonTokenType.StartArray:
                bool mayBeEmpty = isMap || value.TokenType == JsonTokenType.StartArray;
                int depth = value.CurrentDepth;
                bool isEmpty = value.Read() && value.TokenType is JsonTokenType.EndObject or JsonTokenType.EndArray;
                while (value.CurrentDepth > depth)
                {
                    value.Read();
                }

                return isEmpty && mayBeEmpty;
            default:
                return false;
        }
    }
}
