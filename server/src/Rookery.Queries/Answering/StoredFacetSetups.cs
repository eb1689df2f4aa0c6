using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Summaries;
using QueryValues = Rookery.Queries.Conditions.QueryParameters;

namespace Rookery.Queries.Answering;

/// <summary>
/// Reads facet setups: documents that define facets and that queries name, as in <c>facet(id('facets/cameras'))</c>.
/// </summary>
internal static class StoredFacetSetups
{
    // A setup written by hand has a few KiB.
    private const int MaxSetupBytes = 256 << 10;

    /// <summary>Returns the query with the facets of each named setup instead of its name.</summary>
    /// <exception cref="QueryException">A setup does not exist, or is invalid.</exception>
    public static Query Inline(Query query, QueryValues parameters, Database database)
    {
        if (
            query.Select is not FieldSelection { Items: var items } selection
            || !items.Any(static item => item.Source is SelectedFacet { SetupDocument: not null })
        )
        {
            return query;
        }

        var operands = new OperandValues(parameters);
        return query with
        {
            Select = selection with
            {
                Items =
                [
                    .. items.SelectMany(item =>
                        item.Source is SelectedFacet { SetupDocument: { } setup }
                            ? Read(setup, operands, database)
                            : [item]
                    ),
                ],
            },
        };
    }

    private static IReadOnlyList<SelectedField> Read(Operand setup, OperandValues operands, Database database)
    {
        byte[] id = operands.ReadText(setup, "facet");
        using var reader = database.OpenReader();
        if (!DocumentId.TryValidate(id, out _) || !reader.TryGetDocument(id, out var document))
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"There is no facet setup '{Encoding.UTF8.GetString(id)}'.",
                setup.Position
            );
        }

        using (document)
        {
            if (document.Length > MaxSetupBytes)
            {
                throw new QueryException(
                    QueryFault.TooCostly,
                    $"A facet setup has at most {MaxSetupBytes >> 10} KiB.",
                    setup.Position
                );
            }

            var json = new ArrayBufferWriter<byte>();
            document.Write(json, Encoding.ASCII.GetBytes(database.HistoryId));
            using var parsed = JsonDocument.Parse(
                json.WrittenMemory,
                new JsonDocumentOptions { MaxDepth = JsonLimits.MaxEnvelopeDepth }
            );
            return FacetSetup.Read(parsed.RootElement, setup.Position);
        }
    }
}
