using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// The configuration of revisions in RavenDB's form: <c>{"Default":RULE or null,"Collections":{NAME:RULE,…}}</c>.
/// </summary>
internal static class RevisionsConfigurationJson
{
    private static readonly string[] RuleMembers =
    [
        "MinimumRevisionsToKeep",
        "MinimumRevisionAgeToKeep",
        "MaximumRevisionsToDeleteUponDocumentUpdate",
        "PurgeOnDelete",
        "Disabled",
    ];

    /// <summary>Reads a configuration.</summary>
    /// <exception cref="RefusedException">The body is no configuration (400), or has an unknown member (501).
    /// </exception>
    public static RevisionsConfiguration Read(ReadOnlySpan<byte> body) =>
        JsonBody.Read(
            body,
            static (ref Utf8JsonReader json) =>
            {
                RevisionRule? defaultRule = null;
                var collections = new List<(string, RevisionRule)>();
                JsonBody.ForEachMember(
                    ref json,
                    (string member, ref Utf8JsonReader value) =>
                    {
                        switch (member)
                        {
                            case "Default":
                                defaultRule = ReadRule(ref value, member);
                                break;
                            case "Collections" when value.TokenType == JsonTokenType.Null:
                                break;
                            case "Collections":
                                ReadCollections(ref value, collections);
                                break;
                            default:
                                JsonBody.RequireNull(
                                    ref value,
                                    member,
                                    "the configuration of revisions",
                                    "Default",
                                    "Collections"
                                );
                                break;
                        }
                    }
                );
                return new RevisionsConfiguration(defaultRule, collections);
            }
        );

    /// <summary>Writes the members of a configuration.</summary>
    public static void Write(Utf8JsonWriter json, RevisionsConfiguration configuration)
    {
        json.WritePropertyName("Default"u8);
        if (configuration.Default is { } rule)
        {
            Write(json, rule);
        }
        else
        {
            json.WriteNullValue();
        }

        json.WriteStartObject("Collections"u8);
        foreach (var (collection, ofCollection) in configuration.Collections)
        {
            json.WritePropertyName(collection);
            Write(json, ofCollection);
        }

        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, RevisionRule rule)
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled"u8, rule.IsDisabled);
        WriteNumber(json, "MinimumRevisionsToKeep"u8, rule.MinimumToKeep);
        if (rule.MinimumAgeTicks is { } age)
        {
            json.WriteString(
                "MinimumRevisionAgeToKeep"u8,
                TimeSpan.FromTicks(age).ToString("c", CultureInfo.InvariantCulture)
            );
        }
        else
        {
            json.WriteNull("MinimumRevisionAgeToKeep"u8);
        }

        json.WriteBoolean("PurgeOnDelete"u8, rule.PurgesOnDelete);
        WriteNumber(json, "MaximumRevisionsToDeleteUponDocumentUpdate"u8, rule.MaximumDeletes);
        json.WriteEndObject();
    }

    private static void WriteNumber(Utf8JsonWriter json, ReadOnlySpan<byte> name, long? number)
    {
        if (number is { } value)
        {
            json.WriteNumber(name, value);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    private static void ReadCollections(ref Utf8JsonReader json, List<(string, RevisionRule)> collections) =>
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                if (System.Text.Encoding.UTF8.GetByteCount(name) is 0 or > DocumentLimits.MaxCollectionBytes)
                {
                    throw RefusedException.BadRequest(
                        $"'{name}' cannot be a collection: a name has 1 to {DocumentLimits.MaxCollectionBytes} bytes."
                    );
                }

                if (collections.Count == RevisionsConfiguration.MaxCollections)
                {
                    throw RefusedException.BadRequest(
                        $"At most {RevisionsConfiguration.MaxCollections} collections have a configuration of "
                            + "revisions of their own. Configure the others by Default."
                    );
                }

                if (ReadRule(ref value, name) is { } rule)
                {
                    if (collections.Exists(other => IgnoredCase.OfCollections.Equals(other.Item1, name)))
                    {
                        // As from RavenDB, where clients get their general exception.
                        throw new RefusedException(
                            StatusCodes.Status400BadRequest,
                            RavenType.RavenException,
                            "Cannot have two different revision configurations on the same collection. Collection "
                                + $"name: '{name}'. Names of collections are compared without regard to casing."
                        );
                    }

                    collections.Add((name, rule));
                }
            },
            "'Collections'"
        );

    private static RevisionRule? ReadRule(ref Utf8JsonReader json, string name)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return null;
        }

        var rule = new RevisionRule();
        JsonBody.ForEachMember(
            ref json,
            (string member, ref Utf8JsonReader value) =>
            {
                rule = member switch
                {
                    "MinimumRevisionsToKeep" => rule with { MinimumToKeep = ReadNumber(ref value, member, least: 0) },
                    "MinimumRevisionAgeToKeep" => rule with { MinimumAgeTicks = ReadAge(ref value) },
                    "MaximumRevisionsToDeleteUponDocumentUpdate" => rule with
                    {
                        MaximumDeletes = ReadNumber(ref value, member, least: 1),
                    },
                    "PurgeOnDelete" => rule with { PurgesOnDelete = ReadFlag(ref value, member) },
                    "Disabled" => rule with { IsDisabled = ReadFlag(ref value, member) },
                    _ => throw JsonBody.NotSupported(member, "a configuration of revisions", RuleMembers),
                };
            },
            $"'{name}'"
        );
        return rule;
    }

    private static bool ReadFlag(ref Utf8JsonReader json, string member) =>
        json.TokenType switch
        {
            JsonTokenType.True => true,
            JsonTokenType.False or JsonTokenType.Null => false,
            _ => throw RefusedException.BadRequest($"'{member}' must be true or false."),
        };

    private static long? ReadNumber(ref Utf8JsonReader json, string member, long least)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return null;
        }

        return json.TokenType == JsonTokenType.Number && json.TryGetInt64(out long number) && number >= least
            ? number
            : throw RefusedException.BadRequest($"'{member}' must be a whole number from {least}, or null.");
    }

    private static long? ReadAge(ref Utf8JsonReader json)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return null;
        }

        return
            json.TokenType == JsonTokenType.String
            && TimeSpan.TryParse(json.GetString(), CultureInfo.InvariantCulture, out var age)
            && age >= TimeSpan.Zero
            ? age.Ticks
            : throw RefusedException.BadRequest(
                "'MinimumRevisionAgeToKeep' must be a time such as \"14.00:00:00\" (14 days) or \"00:30:00\", or null."
            );
    }
}
