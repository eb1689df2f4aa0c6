using System.CommandLine;
using Rookery.Access;

namespace Rookery.Data;

/// <summary>Arguments that several commands share.</summary>
internal static class DocumentArguments
{
    /// <summary>The database.</summary>
    public static Argument<string> Database(NodeAddress address) =>
        new Argument<string>("DB")
        {
            Description = "The database; `.` is your default, which `rookery login` saved.",
        }.Offering(address, static (names, _, _) => names.DatabasesAsync());

    /// <summary>Completes an argument with the ids of documents of a database.</summary>
    public static Argument<T> OfferingDocuments<T>(
        this Argument<T> ids,
        NodeAddress address,
        Argument<string> database
    ) =>
        ids.Offering(
            address,
            (names, parsed, typed) => names.DocumentsAsync(address.DatabaseOf(parsed.GetValue(database)!), typed)
        );

    /// <summary>Completes an argument with RQL for a database.</summary>
    public static Argument<string> OfferingRql(
        this Argument<string> query,
        NodeAddress address,
        Argument<string> database
    ) =>
        query.Offering(
            address,
            (names, parsed, typed) =>
                Task.Run(() => RqlArgument.Complete(names, address.DatabaseOf(parsed.GetValue(database)!), typed))
        );
}
