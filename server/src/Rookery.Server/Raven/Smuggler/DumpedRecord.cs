using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Server.Access;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.Databases;
using Rookery.Server.Raven.Revisions;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>The record of a database in a dump: its configurations, in RavenDB's form.</summary>
internal sealed class DumpedRecord(
    ServerContext context,
    HttpContext http,
    Database database,
    SmugglerOperation operation
)
{
    private const string Revisions = "Revisions";
    private const string Settings = "Settings";
    private const string LockMode = "LockMode";

    // Members that name the database itself.
    private static readonly string[] Ignored =
    [
        "DatabaseName",
        "DatabaseState",
        "Disabled",
        "Etag",
        "EtagForBackup",
        "Topology",
        "UnusedDatabaseIds",
    ];

    private readonly List<(string Member, Func<CommandBuffer> Encode)> _held = [];

    /// <summary>Writes the record of a database as a member of a dump.</summary>
    public static void Write(DumpWriter dump, Database database, in DatabaseReader reader, SmugglerOptions options)
    {
        var configurations = database.Configurations;
        var revisions = reader.ReadRevisionsConfiguration();
        byte[] record = ConfigurationProposal.ToJson(json =>
        {
            json.WriteString("DatabaseName"u8, database.Name);
            json.WriteBoolean("Encrypted"u8, value: false);
            if (options.HasOfRecord(LockMode))
            {
                json.WriteString(LockMode, configurations.LockMode.ToString());
            }

            if (options.HasOfRecord(Settings))
            {
                WriteSettings(json, configurations.Find(ConfigurationName.Settings));
            }

            if (options.HasOfRecord(Revisions) && revisions is { IsEmpty: false })
            {
                json.WriteStartObject(Revisions);
                RevisionsConfigurationJson.Write(json, revisions);
                json.WriteEndObject();
            }

            foreach (var (member, name) in DatabaseRoutes.RecordMembers)
            {
                if (options.HasOfRecord(member) && configurations.Find(name) is { IsSet: true } configuration)
                {
                    json.WritePropertyName(member);
                    json.WriteRawValue(configuration.Json.Span, skipInputValidation: true);
                }
            }
        });
        dump.WriteMember("DatabaseRecord"u8, record);
    }

    /// <summary>
    /// Reads a record. Its configurations are kept until <see cref="StoreAsync"/>: before the documents are stored,
    /// they would create revisions, or remove documents that have expired.
    /// </summary>
    /// <exception cref="JsonException">The record is not valid JSON.</exception>
    public void Read(ReadOnlyMemory<byte> json, SmugglerOptions options)
    {
        using var record = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = 128 });
        if (record.RootElement.ValueKind != JsonValueKind.Object)
        {
            throw new FormatException("The record is no object.");
        }

        foreach (var member in record.RootElement.EnumerateObject())
        {
            if (
                !options.HasOfRecord(member.Name)
                || Array.IndexOf(Ignored, member.Name) >= 0
                || IsNothing(member.Value)
            )
            {
                continue;
            }

            try
            {
                ReadMember(member.Name, member.Value);
            }
            catch (RefusedException refused)
            {
                Refuse(member.Name, refused.Message);
            }
        }
    }

    /// <summary>Stores the configurations that <see cref="Read"/> kept, after all documents.</summary>
    /// <exception cref="RefusedException">The database takes nothing now.</exception>
    public async ValueTask StoreAsync()
    {
        if (_held.Count > 0 && !Principal.Of(http).HasScope(AccessScopes.Admin, database.Name))
        {
            Refuse(
                string.Join(", ", _held.Select(static held => held.Member)),
                "Configurations need the scope 'admin' of the database, and this token has not."
            );
            _held.Clear();
        }

        foreach (var (member, encode) in _held)
        {
            var outcome = await ProposalRetry.ProposePatientlyAsync(
                context.Node.Consensus,
                encode,
                context.Time,
                operation.Killed
            );
            if (outcome.Rejection is { } rejection)
            {
                var refused = RavenErrors.Refuse(rejection);
                if (refused.Status >= StatusCodes.Status503ServiceUnavailable)
                {
                    throw refused;
                }

                Refuse(member, refused.Message);
            }
        }

        _held.Clear();
    }

    private static void WriteSettings(Utf8JsonWriter json, DatabaseConfiguration settings)
    {
        json.WriteStartArray(Settings);
        if (settings.IsSet)
        {
            using var stored = JsonDocument.Parse(settings.Json);
            foreach (var setting in stored.RootElement.EnumerateObject())
            {
                json.WriteStartObject();
                setting.WriteTo(json);
                json.WriteEndObject();
            }
        }

        json.WriteEndArray();
    }

    private static bool IsNothing(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.Null or JsonValueKind.False or JsonValueKind.Undefined => true,
            JsonValueKind.Array => value.GetArrayLength() == 0,
            JsonValueKind.Object => !value.EnumerateObject().Any(),
            _ => false,
        };

    private void ReadMember(string member, JsonElement value)
    {
        switch (member)
        {
            case Revisions:
                HoldRevisions(value);
                break;
            case Settings:
                Hold(member, ConfigurationName.Settings, DatabaseSettingRoutes.Read, SettingsOf(value));
                break;
            case LockMode:
                HoldLockMode(value);
                break;
            case "Client":
                Hold(member, ConfigurationName.Client, ClientConfigurationRoutes.Read, BytesOf(value));
                break;
            default:
                string? schedule = DatabaseRoutes
                    .RecordMembers.FirstOrDefault(each => string.Equals(each.Member, member, StringComparison.Ordinal))
                    .Name;
                if (schedule is null)
                {
                    operation.LeaveOut("DatabaseRecord." + member, count: 1);
                    break;
                }

                Hold(member, schedule, new ScheduleConfigurationRoutes(context, schedule).Read, BytesOf(value));
                break;
        }
    }

    private void HoldRevisions(JsonElement value)
    {
        var configuration = RevisionsConfigurationJson.Read(BytesOf(value));
        var key = context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None;
        HoldCommand(Revisions, () => CommandEncoder.ConfigureRevisions(database.Number, configuration, key));
    }

    private void HoldLockMode(JsonElement value)
    {
        string? mode = value.GetString();
        if (!Enum.GetNames<DatabaseLockMode>().Contains(mode, StringComparer.Ordinal))
        {
            throw RefusedException.BadRequest($"'{mode}' is no lock mode.");
        }

        byte[] text = Encoding.ASCII.GetBytes($"\"{mode}\"");
        if (!string.Equals(database.Configurations.LockMode.ToString(), mode, StringComparison.Ordinal))
        {
            HoldCommand(
                LockMode,
                () => CommandEncoder.SetConfiguration(database.Number, ConfigurationName.LockMode, text)
            );
        }
    }

    private void Hold(string member, string name, JsonRead<byte[]> read, byte[] body)
    {
        byte[] text = JsonBody.Read(body, read);
        if (text.Length > DatabaseConfigurations.MaxBytes)
        {
            throw RefusedException.BadRequest($"It is longer than {DatabaseConfigurations.MaxBytes >> 10} KiB.");
        }

        HoldCommand(member, () => CommandEncoder.SetConfiguration(database.Number, name, text));
    }

    private void HoldCommand(string member, Func<CommandBuffer> encode)
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Configurations)
        {
            operation.LeaveOut($"DatabaseRecord.{member}, until the upgrade is ended", count: 1);
            return;
        }

        _held.RemoveAll(held => string.Equals(held.Member, member, StringComparison.Ordinal)); // of an earlier record
        _held.Add((member, encode));
    }

    // RavenDB's dumps have a list of objects with one member each.
    private static byte[] SettingsOf(JsonElement value)
    {
        if (value.ValueKind != JsonValueKind.Array)
        {
            return BytesOf(value);
        }

        return ConfigurationProposal.ToJson(json =>
        {
            foreach (var setting in value.EnumerateArray().SelectMany(static each => each.EnumerateObject()))
            {
                setting.WriteTo(json);
            }
        });
    }

    private static byte[] BytesOf(JsonElement value) => Encoding.UTF8.GetBytes(value.GetRawText());

    private void Refuse(string member, string why)
    {
        operation.DatabaseRecord.Fail();
        operation.Tell($"{member} of the dump's DatabaseRecord is not stored: {why}");
    }
}
