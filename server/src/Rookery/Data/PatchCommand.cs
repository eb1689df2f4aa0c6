using System.CommandLine;
using Rookery.Access;

namespace Rookery.Data;

/// <summary>`rookery patch`: changes all documents that a query finds, by the script of its clause `update`.</summary>
internal static class PatchCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var query = new Argument<string>("RQL")
        {
            Description =
                "The query with its script, such as 'from Users where age > $age update { this.grown = true }'; - "
                + "reads it from stdin.",
        }.OfferingRql(address, database);
        var parameters = AskedQuery.ParameterOption();
        var perSecond = PerSecondOption();
        var yes = new Option<bool>("--yes") { Description = "Do not ask." };
        var command = address.AddTo(
            new Command(
                "patch",
                "Change all documents that a query finds. First counts them, and asks for the database's name as "
                    + "confirmation."
            )
            {
                database,
                query,
                parameters,
                perSecond,
                yes,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    async client =>
                    {
                        string name = address.DatabaseOf(parsed.GetValue(database)!);
                        var asked = await AskedQuery.ReadAsync(
                            name,
                            parsed.GetValue(query)!,
                            parsed.GetValue(parameters)
                        );
                        return await new QueryChange(client, name, asked, isPatch: true).RunAsync(
                            parsed.GetValue(yes),
                            parsed.GetValue(perSecond),
                            address.IsJson(parsed)
                        );
                    }
                )
        );
        return command;
    }

    /// <summary>Creates the option that limits the rate of changes.</summary>
    public static Option<int?> PerSecondOption() =>
        WholeNumber.Option(
            "--per-second",
            "At most so many documents per second, which leaves capacity for others [default: as many as possible].",
            "NUMBER",
            least: 1,
            most: 1_000_000
        );
}
