"""The dashboard: pages over the store's views, run by `streamlit run dashboard/app.py`."""
