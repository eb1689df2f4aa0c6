using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>Decides where each member of a selection is read from, and what happens if the field is missing.</summary>
/// <param name="fields">Resolves fields.</param>
/// <param name="behavior">The behaviour that the request asks for.</param>
internal sealed class ProjectionSource(FieldResolver fields, ProjectionBehavior behavior)
{
    /// <summary>Returns whether the results contain the member.</summary>
    /// <exception cref="QueryException">The field must come from an index that does not store it, or from a document
    /// although the results are groups or reduced rows.</exception>
    public bool IsSelected(SelectedField item)
    {
        if (!IsOfField(item) || behavior == ProjectionBehavior.Default)
        {
            return true;
        }

        bool isOfRow = fields is GroupFields or SelectedFields { Rows.IsReduced: true };
        if (isOfRow && behavior is ProjectionBehavior.FromDocument or ProjectionBehavior.FromDocumentOrThrow)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'ProjectionBehavior' {behavior} is not supported for groups and reduced rows: no single "
                    + $"document belongs to each.",
                item.Position
            );
        }

        if (
            isOfRow
            || behavior is ProjectionBehavior.FromDocument or ProjectionBehavior.FromDocumentOrThrow
            || (fields is SelectedFields && ReadsFromRow(item))
        )
        {
            return true;
        }

        return behavior == ProjectionBehavior.FromIndexOrThrow ? throw NotStored(item) : false;
    }

    /// <summary>Returns whether a member is read from the row stored in the index.</summary>
    public bool ReadsFromRow(SelectedField item) =>
        fields is not SelectedFields selected || selected.ReadsFromRow(item);

    /// <summary>Returns whether a member is omitted if the field is missing.</summary>
    public bool OmitsIfMissing(SelectedField item) =>
        IsOfField(item) && behavior is ProjectionBehavior.FromIndex or ProjectionBehavior.FromDocument;

    /// <summary>Returns whether a missing field is an error.</summary>
    public bool IsNeeded(SelectedField item) =>
        IsOfField(item) && behavior is ProjectionBehavior.FromIndexOrThrow or ProjectionBehavior.FromDocumentOrThrow;

    // Clients select the types of nested objects from "@metadata" in every projection. It is not a field of an index.
    private static bool IsOfField(SelectedField item) =>
        item.Source is SelectedReference { Field: PathReference { Path.Steps: [{ Name: not "@metadata" }, ..] } };

    private QueryException NotStored(SelectedField item)
    {
        string reason = fields is SelectedFields { Rows.IndexName: var name }
            ? $"The index '{name}' does not store"
            : "An automatic index does not store";
        return new(
            QueryFault.Invalid,
            $"{reason} '{Projection.NameOf(item)}', which is an error by the request's ProjectionBehavior.",
            item.Position
        );
    }
}
