namespace Rookery.Scripting.Functions;

/// <summary>Compares the items at two positions.</summary>
internal interface ISortOrder
{
    /// <summary>
    /// Returns a negative number if the left item comes first, 0 if both are equal, and a positive number otherwise.
    /// </summary>
    int Compare(int left, int right);
}
