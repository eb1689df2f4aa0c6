using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Schedules;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Makes random commands that configure databases, and that refresh and archive documents, each with its expected
/// outcome.
/// </summary>
internal sealed class RandomSchedules(Random random, SimulatedTimeProvider time)
{
    private const int DocumentsPerCommand = 20;

    private static readonly string[] Names =
    [
        ConfigurationName.Expiration,
        ConfigurationName.Refresh,
        ConfigurationName.DataArchival,
        ConfigurationName.Client,
    ];

    /// <summary>Returns one of these commands.</summary>
    public Step Next(Model model, ModelDatabase database) =>
        random.Next(8) switch
        {
            0 => Configure(model, database),
            1 => Register(model, database),
            2 or 3 or 4 => Change(model, database, ScheduleKind.Refresh),
            _ => Change(model, database, ScheduleKind.Archive),
        };

    private Step Configure(Model model, ModelDatabase database)
    {
        long etag = model.LastEtag + 1;
        string name = Names[random.Next(Names.Length)];
        string json = random.Next(4) == 0 ? "null" : $"{{\"MaxItemsToProcess\":{random.Next(1000)}}}";
        long actual = database.Configurations.GetValueOrDefault(name).Etag;
        long? expected = random.Next(4) switch
        {
            0 => actual,
            1 => random.Next(50),
            _ => null,
        };
        var command = CommandEncoder.SetConfiguration(database.Number, name, Encoding.UTF8.GetBytes(json), expected);
        return expected is { } wanted && wanted != actual
            ? Step.Of(model, command, database, etag, $"ConcurrencyConflict {wanted} {actual} at -1")
            : Step.Of(
                model,
                command,
                database with
                {
                    Configurations = database.Configurations.SetItem(name, (json, etag)),
                },
                etag,
                $"Configured {etag} 0-0 "
            );
    }

    private Step Register(Model model, ModelDatabase database)
    {
        using var writer = new ScheduleWriter(database.Number, ScheduleAction.Register);
        long etag = model.LastEtag;
        int registered = 0;
        foreach (var document in Some(database))
        {
            etag++;
            bool isOutdated = random.Next(8) == 0;
            writer.Add(LowerId(document), isOutdated ? document.Etag - 1 : document.Etag);
            if (!isOutdated && database.KeepsSchedules)
            {
                registered++;
                database = database.Replace(document with { IsRegistered = true });
            }
        }

        return Complete(model, writer, database, etag, registered);
    }

    private Step Change(Model model, ModelDatabase database, ScheduleKind kind)
    {
        long now = time.GetUtcNow().UtcTicks;
        using var writer = new ScheduleWriter(database.Number, (ScheduleAction)kind);
        long etag = model.LastEtag;
        int changed = 0;
        foreach (
            var document in Some(database).Where(document => document.TimeOf(kind) is > 0 and var due && due <= now)
        )
        {
            etag++;
            bool isOutdated = random.Next(8) == 0;
            writer.Add(LowerId(document), isOutdated ? document.Etag - 1 : document.Etag, document.TimeOf(kind));
            if (!isOutdated && database.KeepsSchedules)
            {
                changed++;
                database = database.Replace(
                    kind == ScheduleKind.Refresh
                        ? document with
                        {
                            Etag = etag,
                            RefreshTicks = 0,
                            IsRegistered = true,
                        }
                        : document with
                        {
                            Etag = etag,
                            ArchiveTicks = 0,
                            IsArchived = true,
                            IsRegistered = true,
                        }
                ) with
                {
                    LastDocumentEtag = etag,
                };
            }
        }

        return Complete(model, writer, database, etag, changed);
    }

    private Step Complete(Model model, ScheduleWriter writer, ModelDatabase database, long etag, int changed) =>
        writer.Count == 0
            ? Configure(model, database)
            : Step.Of(
                model,
                writer.Complete(),
                database,
                etag,
                string.Create(CultureInfo.InvariantCulture, $"Stored 0 {changed}-0 ")
            );

    private IEnumerable<ModelDocument> Some(ModelDatabase database) =>
        [.. database.Documents.Values.Where(_ => random.Next(2) == 0).Take(DocumentsPerCommand)];

    private static byte[] LowerId(ModelDocument document) => Encoding.UTF8.GetBytes(document.Id.ToLowerInvariant());
}
