namespace Rookery.Scripting.Functions;

/// <summary>Compares the items at two positions.</summary>
internal interface ISortOrder
{
    /// <summary>Returns a negative number if the left item comes first, and 0 if both are equal.</summary>
    int Compare(int left, int right);
}
