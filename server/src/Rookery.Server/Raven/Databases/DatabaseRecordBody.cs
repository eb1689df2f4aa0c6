using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// Reads the body of PUT admin/databases. Clients send every member of a record, most of them empty. A member that
/// requests something is refused by name, so that no database differs silently from its record.
/// </summary>
internal static class DatabaseRecordBody
{
    // All members hold all databases, so any requested topology is satisfied; there are no conflicts to resolve.
    private static readonly string[] Harmless = ["Topology", "ConflictSolverConfig"];

    // Members that are maps by name; clients send an empty map by default. In any other member, such as 'Sharding' or
    // 'Expiration', an empty object is a configuration whose presence switches a feature on.
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

    // Members of a definition that GET writes for information. The server derives them from the other members.
    private static readonly string[] Derived = ["Name", "SourceType", "Type"];

    /// <summary>Returns the database's name, from the query string or the record; null if both lack it.</summary>
    /// <param name="body">The record; empty for none.</param>
    /// <param name="name">The name in the query string, or null.</param>
    /// <exception cref="RefusedException">The record names another database (400).</exception>
    public static string? ReadName(ReadOnlySpan<byte> body, string? name)
    {
        string? result = name;
        ReadMembers(
            body,
            (string member, ref Utf8JsonReader value) =>
            {
                if (member is "DatabaseName")
                {
                    result = RequireSame(name, JsonBody.ReadText(ref value, member));
                }
                else
                {
                    value.Skip();
                }
            }
        );
        return result;
    }

    /// <summary>
    /// Refuses a record that requests something unsupported. The record is for a new database, or it is the record of
    /// an existing database, which the client has read and sends back.
    /// </summary>
    /// <param name="body">The record; empty for none.</param>
    /// <param name="defined">The members Indexes and AutoIndexes of an existing database's record, as the caller may
    /// read them; null for a new database.</param>
    /// <param name="configured">The members of an existing database's record that are configurations.</param>
    /// <returns>Whether the record of an existing database disables it; null if the record does not say.</returns>
    /// <exception cref="RefusedException">The record requests something unsupported, or changes the definition of an
    /// index (501).</exception>
    public static bool? RequireSupported(ReadOnlySpan<byte> body, JsonElement? defined, JsonElement? configured)
    {
        bool? isDisabled = null;
        var sent = new HashSet<string>(StringComparer.Ordinal);
        ReadMembers(
            body,
            (string member, ref Utf8JsonReader value) =>
            {
                switch (member)
                {
                    case "DatabaseName":
                        break;
                    case "Disabled"
                        when configured is not null && value.TokenType is JsonTokenType.True or JsonTokenType.False:
                        isDisabled = value.GetBoolean();
                        break;
                    case not "LockMode" when configured is { } known && known.TryGetProperty(member, out var current):
                        sent.Add(member);
                        RequireSameConfiguration(ref value, member, current);
                        break;
                    case "LockMode" when configured is { } known && value.TokenType == JsonTokenType.String:
                        RequireSameConfiguration(ref value, member, known.GetProperty(member));
                        break;
                    case "Settings" when value.TokenType == JsonTokenType.StartObject:
                        JsonBody.ForEachMember(ref value, RequireHarmlessSetting);
                        break;
                    case "LockMode" when value.TokenType == JsonTokenType.String && value.ValueTextEquals("Unlock"u8):
                    case "DatabaseState"
                        when value.TokenType == JsonTokenType.String && value.ValueTextEquals("Normal"u8):
                        break;
                    case "Etag" when defined is not null && value.TokenType == JsonTokenType.Number:
                        break;
                    case "Indexes"
                    or "AutoIndexes" when defined is { } record && value.TokenType == JsonTokenType.StartObject:
                        sent.Add(member);
                        RequireSameIndexes(ref value, member, DefinitionsIn(record, member));
                        break;
                    case "Revisions" when value.TokenType == JsonTokenType.StartObject:
                        RequireSameRevisions(ref value, defined);
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
        if (body.IsEmpty || defined is not { } existing)
        {
            return isDisabled;
        }

        foreach (
            string member in configured!
                .Value.EnumerateObject()
                .Where(member => !sent.Contains(member.Name) && member.Value.ValueKind == JsonValueKind.Object)
                .Where(member => !IsEmpty(member.Value))
                .Select(static member => member.Name)
        )
        {
            throw ChangesConfiguration(member);
        }

        foreach (
            var member in existing
                .EnumerateObject()
                .Where(member => member.Name is not "Revisions" && !sent.Contains(member.Name))
        )
        {
            RequireAllSent(member.Name, DefinitionsIn(existing, member.Name));
        }

        return isDisabled;
    }

    private static void ReadMembers(ReadOnlySpan<byte> body, JsonMember read)
    {
        if (body.IsEmpty)
        {
            return;
        }

        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(ref json, read);
                return true;
            }
        );
    }

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

    private static Dictionary<string, JsonElement> DefinitionsIn(JsonElement record, string member) =>
        record.TryGetProperty(member, out var definitions)
            ? definitions
                .EnumerateObject()
                .ToDictionary(static index => index.Name, static index => index.Value, IgnoredCase.OfNames)
            : [];

    /// <summary>
    /// Accepts the indexes that exist with their definitions, which only the routes of indexes change.
    /// </summary>
    private static void RequireSameIndexes(
        ref Utf8JsonReader value,
        string member,
        Dictionary<string, JsonElement> defined
    )
    {
        JsonBody.ForEachMember(
            ref value,
            (string index, ref Utf8JsonReader definition) =>
            {
                if (!defined.Remove(index, out var existing))
                {
                    throw RefusedException.NotSupported(
                        $"'{member}' in the record of a database is not supported by this version, and there is no "
                            + $"index '{index}'. Nothing was changed; send the definition to PUT admin/indexes."
                    );
                }

                var sent = JsonElement.ParseValue(ref definition);
                JsonBody.RefuseRepeatedMembers(sent);
                if (!IsSame(sent, existing, Derived))
                {
                    throw RefusedException.NotSupported(
                        $"'{member}' in the record of a database changes the index '{index}', which is not supported "
                            + "by this version. Nothing was changed; send the definition to PUT admin/indexes, or read "
                            + "the record again."
                    );
                }
            }
        );
        RequireAllSent(member, defined);
    }

    // Only its own route changes the configuration of revisions.
    private static void RequireSameRevisions(ref Utf8JsonReader value, JsonElement? defined)
    {
        var sent = JsonElement.ParseValue(ref value);
        bool isSame =
            defined is { } record
            && record.TryGetProperty("Revisions", out var existing)
            && IsSame(sent, existing, optional: []);
        if (!isSame)
        {
            throw RefusedException.NotSupported(
                "'Revisions' in the record of a database is not supported by this version. Nothing was changed; send "
                    + "the configuration to POST admin/revisions/config."
            );
        }
    }

    private static void RequireAllSent(string member, Dictionary<string, JsonElement> notSent)
    {
        foreach (string index in notSent.Keys)
        {
            throw RefusedException.NotSupported(
                $"'{member}' in the record of a database lacks the index '{index}', and deleting it this way is "
                    + $"not supported by this version. Nothing was changed; send DELETE indexes?name="
                    + $"{Uri.EscapeDataString(index)}, or read the record again."
            );
        }
    }

    /// <summary>
    /// Returns whether a value in a definition equals the existing value. A member that only one of them has must be
    /// empty, because clients add members of their own.
    /// </summary>
    private static bool IsSame(JsonElement sent, JsonElement existing, string[] optional)
    {
        if (sent.ValueKind != JsonValueKind.Object || existing.ValueKind != JsonValueKind.Object)
        {
            return JsonElement.DeepEquals(sent, existing) || (IsEmpty(sent) && IsEmpty(existing));
        }

        return sent.EnumerateObject()
                .All(member =>
                    existing.TryGetProperty(member.Name, out var same)
                        ? IsSame(member.Value, same, optional: [])
                            || (IsEmpty(member.Value) && optional.Contains(member.Name))
                            || (member.Name is "State" && IsEnabled(member.Value) && IsEnabled(same))
                        : IsEmpty(member.Value)
                )
            && existing
                .EnumerateObject()
                .All(member =>
                    sent.TryGetProperty(member.Name, out _) || IsEmpty(member.Value) || optional.Contains(member.Name)
                );
    }

    // An index can be in the state Error on one node and Normal on another.
    private static bool IsEnabled(JsonElement state) =>
        state.ValueKind == JsonValueKind.String && (state.ValueEquals("Normal"u8) || state.ValueEquals("Error"u8));

    private static bool IsEmpty(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.Null or JsonValueKind.False => true,
            JsonValueKind.String => value.ValueEquals(""u8),
            JsonValueKind.Number => value.GetDouble() == 0,
            JsonValueKind.Array => value.GetArrayLength() == 0,
            JsonValueKind.Object => !value.EnumerateObject().MoveNext(),
            _ => false,
        };

    private static void RequireHarmlessSetting(string setting, ref Utf8JsonReader value)
    {
        if (!DatabaseSettingRoutes.IsIgnored(setting) && value.TokenType != JsonTokenType.Null)
        {
            throw RefusedException.NotSupported(
                $"The setting '{setting}' in the record of a database is not supported by this version. "
                    + "Nothing was changed; leave it out."
            );
        }

        DatabaseSettingRoutes.RequireUsable(setting, DatabaseSettingRoutes.ReadText(ref value, setting));
    }

    /// <summary>Accepts a configuration of the existing record, which only its own route changes.</summary>
    private static void RequireSameConfiguration(ref Utf8JsonReader value, string member, JsonElement existing)
    {
        var sent = JsonElement.ParseValue(ref value);
        JsonBody.RefuseRepeatedMembers(sent);
        bool isSame = member is "Settings"
            ? IsSame(WithoutIgnored(sent), WithoutIgnored(existing), optional: [])
            : IsSame(sent, existing, optional: []);
        if (!isSame)
        {
            throw ChangesConfiguration(member);
        }
    }

    private static JsonElement WithoutIgnored(JsonElement settings) =>
        settings.ValueKind == JsonValueKind.Object
            ? JsonElement.Parse(
                ConfigurationProposal.ToJson(json =>
                {
                    foreach (var setting in settings.EnumerateObject())
                    {
                        if (!DatabaseSettingRoutes.IsIgnored(setting.Name))
                        {
                            setting.WriteTo(json);
                        }
                    }
                })
            )
            : settings;

    private static RefusedException ChangesConfiguration(string member) =>
        RefusedException.NotSupported(
            $"The record changes '{member}', which is not supported by this version. Nothing was changed; send it to "
                + "its own route, such as POST admin/expiration/config, POST /admin/databases/set-lock or PUT "
                + "admin/configuration/settings, or read the record again."
        );

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
